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
(interface_type (method_elem name: (field_identifier) @name) @definition.method)
(type_spec name: (type_identifier) @name) @definition.type
(type_alias name: (type_identifier) @name) @definition.type
(source_file (const_declaration (const_spec name: (identifier) @name) @definition.constant))
(source_file (var_declaration [
    (var_spec name: (identifier) @name) @definition.constant
    (var_spec_list (var_spec name: (identifier) @name) @definition.constant)])
  (#match? @name "^([A-Z]|err[A-Z])"))

(type_declaration . [(type_spec) (type_alias)] @inner .) @outer
(const_declaration . (const_spec) @inner .) @outer
(var_declaration . (var_spec) @inner .) @outer

; Routes: net/http, gin, chi, echo
((call_expression function: (selector_expression field: (field_identifier) @verb)
    arguments: (argument_list . (interpreted_string_literal (interpreted_string_literal_content) @name) . (_)))
  @definition.route
  (#match? @verb "^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|Get|Head|Post|Put|Patch|Delete|Options|Any|Handle(Func)?)$")
  (#match? @name "^([A-Z]+ )?/"))

; Commands: cobra, urfave/cli
((composite_literal type: (qualified_type name: (type_identifier) @_type) body: (literal_value (keyed_element
    (literal_element (identifier) @_key)
    (literal_element (interpreted_string_literal (interpreted_string_literal_content) @name))))) @definition.command
  (#eq? @_type "Command") (#any-of? @_key "Use" "Name"))

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

; References
(call_expression function: [(identifier) @reference (selector_expression field: (field_identifier) @reference)])
(composite_literal type: [(type_identifier) @reference (qualified_type name: (type_identifier) @reference)])
