; Definitions. The first pattern that matches a node gives it its kind.
(class_declaration name: (identifier) @name) @definition.class
(record_declaration name: (identifier) @name) @definition.class
(struct_declaration name: (identifier) @name) @definition.struct
(interface_declaration name: (identifier) @name) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(delegate_declaration name: (identifier) @name) @definition.type
(method_declaration name: (identifier) @name) @definition.method
(constructor_declaration name: (identifier) @name) @definition.method
(local_function_statement name: (identifier) @name) @definition.function
(operator_declaration operator: _ @name) @definition.method
(field_declaration (modifier) @_const (variable_declaration (variable_declarator name: (identifier) @name))
  (#eq? @_const "const")) @definition.constant
(field_declaration (modifier) @_static (modifier) @_readonly
  (variable_declaration (variable_declarator name: (identifier) @name))
  (#eq? @_static "static") (#eq? @_readonly "readonly") (#match? @name "^[A-Z]")) @definition.constant

; Routes: ASP.NET
([(method_declaration (attribute_list (attribute name: (identifier) @verb (attribute_argument_list
    . (attribute_argument (string_literal (string_literal_content) @name)))) @definition.route))
  (class_declaration (attribute_list (attribute name: (identifier) @verb (attribute_argument_list
    . (attribute_argument (string_literal (string_literal_content) @name)))) @definition.route))] @reach
  (#match? @verb "^(Http(Get|Head|Post|Put|Patch|Delete|Options)|Route)$"))
((method_declaration (attribute_list (attribute name: (identifier) @verb) @definition.route)) @reach
  (#match? @verb "^Http(Get|Head|Post|Put|Patch|Delete|Options)$"))
((invocation_expression function: (member_access_expression name: (identifier) @verb)
  arguments: (argument_list . (argument (string_literal (string_literal_content) @name)) . (argument)))
  @definition.route
  (#match? @verb "^Map(Get|Post|Put|Patch|Delete)$"))

; Documentation
(compilation_unit . (comment) @module.head)

; Imports
(using_directive (qualified_name) @import)
(using_directive !name (identifier) @import)
(using_directive name: (identifier) (identifier) @import .)

; What the hash of a definition leaves out, and keeps to the letter
(comment) @comment
(string_literal_content) @verbatim
(verbatim_string_literal) @verbatim
(raw_string_literal) @verbatim
(string_content) @verbatim
(character_literal) @verbatim

; References
(invocation_expression function: [
  (identifier) @reference
  (generic_name . (identifier) @reference)
  (member_access_expression name: [(identifier) @reference (generic_name . (identifier) @reference)])
  (conditional_access_expression (member_binding_expression name: (identifier) @reference))])
(object_creation_expression type: [(identifier) @reference (generic_name . (identifier) @reference)])
(base_list [(identifier) @reference (generic_name . (identifier) @reference)])
(attribute name: (identifier) @reference)
