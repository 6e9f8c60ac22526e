; Definitions. The first pattern that matches a node gives it its kind.
(namespace_definition name: (_) @name) @definition.module
(class_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name)]
  body: (_)) @definition.class
(struct_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name)]
  body: (_)) @definition.struct
(class_specifier name: (qualified_identifier scope: (_) @scope name: [
  (type_identifier) @name (template_type name: (type_identifier) @name)]) body: (_)) @definition.class
(struct_specifier name: (qualified_identifier scope: (_) @scope name: [
  (type_identifier) @name (template_type name: (type_identifier) @name)]) body: (_)) @definition.struct
(union_specifier name: (type_identifier) @name body: (_)) @definition.struct
(enum_specifier name: (type_identifier) @name body: (_)) @definition.enum
(concept_definition name: (identifier) @name) @definition.interface
(alias_declaration name: (type_identifier) @name) @definition.type
(type_definition type: [(struct_specifier body: (_) @body) (union_specifier body: (_) @body)]
  declarator: (type_identifier) @name) @definition.struct
(type_definition type: (enum_specifier body: (_) @body) declarator: (type_identifier) @name) @definition.enum
(type_definition declarator: [
  (type_identifier) @name
  (pointer_declarator declarator: (type_identifier) @name)
  (array_declarator declarator: (type_identifier) @name)
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator
    declarator: (type_identifier) @name)))]) @definition.type

(function_definition declarator: [
  (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name)] @name)
  (pointer_declarator declarator:
    (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name))
  (pointer_declarator declarator: (pointer_declarator declarator:
    (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name)))
  (reference_declarator
    (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name))
  (operator_cast) @name]) @definition.function
(function_definition declarator: [
  (function_declarator declarator: (qualified_identifier
    scope: [(namespace_identifier) @scope (template_type name: (type_identifier) @scope)]
    name: [(identifier) (destructor_name) (operator_name)] @name))
  (_ (function_declarator declarator: (qualified_identifier
    scope: [(namespace_identifier) @scope (template_type name: (type_identifier) @scope)]
    name: [(identifier) (operator_name)] @name)))]) @definition.function
(function_definition declarator: [
  (function_declarator declarator: (qualified_identifier scope: (namespace_identifier) @scope
    name: (qualified_identifier
      scope: [(namespace_identifier) @scope (template_type name: (type_identifier) @scope)]
      name: [(identifier) (destructor_name) (operator_name)] @name)))
  (_ (function_declarator declarator: (qualified_identifier scope: (namespace_identifier) @scope
    name: (qualified_identifier
      scope: [(namespace_identifier) @scope (template_type name: (type_identifier) @scope)]
      name: [(identifier) (operator_name)] @name))))]) @definition.function
(field_declaration_list (field_declaration default_value: (_) declarator: [
  (function_declarator declarator: [(field_identifier) (operator_name)] @name)
  (_ (function_declarator declarator: [(field_identifier) (operator_name)] @name))]) @definition.method)
(field_declaration_list (field_declaration declarator: [
  (function_declarator declarator: [(field_identifier) (operator_name)] @name)
  (_ (function_declarator declarator: [(field_identifier) (operator_name)] @name))]) @definition.declaration)
(field_declaration_list (declaration declarator:
  (function_declarator declarator: [(identifier) (destructor_name)] @name)) @definition.declaration)
([(translation_unit (declaration declarator: [
    (function_declarator declarator: (identifier) @name)
    (_ (function_declarator declarator: (identifier) @name))]) @definition.declaration)
  (declaration_list (declaration declarator: [
    (function_declarator declarator: (identifier) @name)
    (_ (function_declarator declarator: (identifier) @name))]) @definition.declaration)
  (preproc_ifdef (declaration declarator: [
    (function_declarator declarator: (identifier) @name)
    (_ (function_declarator declarator: (identifier) @name))]) @definition.declaration)
  (preproc_if (declaration declarator: [
    (function_declarator declarator: (identifier) @name)
    (_ (function_declarator declarator: (identifier) @name))]) @definition.declaration)
  (linkage_specification body: (declaration declarator: [
    (function_declarator declarator: (identifier) @name)
    (_ (function_declarator declarator: (identifier) @name))]) @definition.declaration)])
(preproc_function_def name: (identifier) @name value: (_) @body) @definition.function
(preproc_def name: (identifier) @name value: (_)) @definition.constant
([(translation_unit (declaration (type_qualifier) @_const declarator: (init_declarator declarator: [
    (identifier) @name (array_declarator declarator: (identifier) @name)])) @definition.constant)
  (declaration_list (declaration (type_qualifier) @_const declarator: (init_declarator declarator: [
    (identifier) @name (array_declarator declarator: (identifier) @name)])) @definition.constant)
  (preproc_ifdef (declaration (type_qualifier) @_const declarator: (init_declarator declarator: [
    (identifier) @name (array_declarator declarator: (identifier) @name)])) @definition.constant)]
  (#any-of? @_const "const" "constexpr" "constinit"))

(template_declaration [(class_specifier) (struct_specifier) (union_specifier) (function_definition) (declaration)
  (alias_declaration) (concept_definition)] @inner) @outer

; Documentation
(translation_unit . (comment) @module.head)

; Imports
(preproc_include path: (_) @import)

; What the hash of a definition leaves out, and keeps to the letter
(comment) @comment
(string_content) @verbatim
(raw_string_content) @verbatim
(char_literal) @verbatim

; References
(call_expression function: [
  (identifier) @reference
  (field_expression field: (field_identifier) @reference)
  (template_function name: (identifier) @reference)
  (qualified_identifier name: [
    (identifier) @reference
    (template_function name: (identifier) @reference)
    (qualified_identifier name: (identifier) @reference)])])
(new_expression type: [(type_identifier) @reference (qualified_identifier name: (type_identifier) @reference)
  (template_type name: (type_identifier) @reference)])
(base_class_clause [
  (type_identifier) @reference
  (template_type name: (type_identifier) @reference)
  (qualified_identifier name: (type_identifier) @reference)])
