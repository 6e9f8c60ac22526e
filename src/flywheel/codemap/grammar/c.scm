; Definitions. The first pattern that matches a node gives it its kind.
(function_definition declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
  (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator
    declarator: (function_declarator declarator: (identifier) @name))))]) @definition.function
([(translation_unit (declaration declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))]) @definition.declaration)
  (preproc_ifdef (declaration declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))]) @definition.declaration)
  (preproc_if (declaration declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))]) @definition.declaration)])
(preproc_function_def name: (identifier) @name value: (_) @body) @definition.function
(preproc_def name: (identifier) @name value: (_)) @definition.constant
(type_definition type: [(struct_specifier body: (_) @body) (union_specifier body: (_) @body)]
  declarator: (type_identifier) @name) @definition.struct
(type_definition type: (enum_specifier body: (_) @body) declarator: (type_identifier) @name) @definition.enum
(type_definition declarator: [
  (type_identifier) @name
  (pointer_declarator declarator: (type_identifier) @name)
  (array_declarator declarator: (type_identifier) @name)
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator
    declarator: (type_identifier) @name)))]) @definition.type
(struct_specifier name: (type_identifier) @name body: (_)) @definition.struct
(union_specifier name: (type_identifier) @name body: (_)) @definition.struct
(enum_specifier name: (type_identifier) @name body: (_)) @definition.enum
(translation_unit (declaration (type_qualifier) @_const declarator: (init_declarator declarator: [
  (identifier) @name
  (array_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))])
  (#any-of? @_const "const" "constexpr")) @definition.constant)

; Documentation
(translation_unit . (comment) @module.head)

; Imports
(preproc_include path: (_) @import)

; What the hash of a definition leaves out, and keeps to the letter
(comment) @comment
(string_content) @verbatim
(char_literal) @verbatim

; References
(call_expression function: [(identifier) @reference (field_expression field: (field_identifier) @reference)])
