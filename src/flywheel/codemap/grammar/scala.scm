; Definitions. The first pattern that matches a node gives it its kind.
(class_definition name: (identifier) @name) @definition.class
(object_definition name: (identifier) @name) @definition.class
(package_object name: (identifier) @name) @definition.module
(trait_definition name: (identifier) @name) @definition.trait
(enum_definition name: (identifier) @name) @definition.enum
(type_definition name: (type_identifier) @name) @definition.type
(function_definition name: [(identifier) (operator_identifier)] @name) @definition.function
(function_declaration name: [(identifier) (operator_identifier)] @name) @definition.function
(given_definition name: (identifier) @name) @definition.constant
(extension_definition parameters: (parameters (parameter type: [
  (type_identifier) @name (generic_type type: (type_identifier) @name)]))) @container
(compilation_unit (val_definition pattern: (identifier) @name) @definition.constant)
(object_definition body: (template_body (val_definition pattern: (identifier) @name
  (#match? @name "^[A-Z]")) @definition.constant))

; Documentation
(compilation_unit . [(comment) (block_comment)] @module.head)
(package_clause) @module

; Imports
(import_declaration) @import

; What the hash of a definition leaves out, keeps to the letter, and needs as structure
(comment) @comment
(block_comment) @comment
(string) @verbatim
(interpolated_string) @verbatim
(character_literal) @verbatim
(indented_block) @block

; References
(call_expression function: [
  (identifier) @reference
  (field_expression field: (identifier) @reference)
  (generic_function function: [(identifier) @reference (field_expression field: (identifier) @reference)])])
(instance_expression [(type_identifier) @reference (generic_type type: (type_identifier) @reference)])
(extends_clause type: [(type_identifier) @reference (generic_type type: (type_identifier) @reference)])
(annotation name: (type_identifier) @reference)
