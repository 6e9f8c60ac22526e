; Definitions. The first pattern that matches a node gives it its kind.
(function_declaration name: (identifier) @name) @definition.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @scope
    (generic_type type: (type_identifier) @scope)
    (pointer_type [(type_identifier) @scope (generic_type type: (type_identifier) @scope)])]))
  name: (field_identifier) @name) @definition.method
(type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @definition.struct
(type_spec name: (type_identifier) @name type: (interface_type)) @definition.interface
(type_spec name: (type_identifier) @name) @definition.type
(type_alias name: (type_identifier) @name) @definition.type
(source_file (const_declaration (const_spec name: (identifier) @name) @definition.constant))

(type_declaration . [(type_spec) (type_alias)] @inner .) @outer
(const_declaration . (const_spec) @inner .) @outer

; Documentation: the comment before the package clause
(package_clause) @module

; Imports
(import_spec path: (interpreted_string_literal (interpreted_string_literal_content) @import))
(import_spec path: (raw_string_literal (raw_string_literal_content) @import))

; What the hash of a definition leaves out, and keeps to the letter
(comment) @comment
(interpreted_string_literal_content) @verbatim
(raw_string_literal_content) @verbatim
(rune_literal) @verbatim
