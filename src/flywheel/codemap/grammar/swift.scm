; Definitions. The first pattern that matches a node gives it its kind.
(class_declaration declaration_kind: "struct" name: (type_identifier) @name) @definition.struct
(class_declaration declaration_kind: "enum" name: (type_identifier) @name) @definition.enum
(class_declaration declaration_kind: "extension" name: (user_type (type_identifier) @name)) @container
(class_declaration name: (type_identifier) @name) @definition.class
(protocol_declaration name: (type_identifier) @name) @definition.interface
(typealias_declaration name: (type_identifier) @name) @definition.type
(associatedtype_declaration name: (type_identifier) @name) @definition.type
(function_declaration name: [(simple_identifier) "==" "<" ">" "+" "-" "*" "/" (custom_operator)] @name)
  @definition.function
(protocol_function_declaration name: (simple_identifier) @name) @definition.method
(init_declaration name: "init" @name) @definition.method
(deinit_declaration "deinit" @name) @definition.method
(subscript_declaration "subscript" @name (computed_property)? @body) @definition.method
(source_file (property_declaration (value_binding_pattern mutability: "let")
  name: (pattern bound_identifier: (simple_identifier) @name)) @definition.constant)
(property_declaration (modifiers (property_modifier) @_static) (value_binding_pattern mutability: "let")
  name: (pattern bound_identifier: (simple_identifier) @name) (#eq? @_static "static")) @definition.constant

; Routes: Vapor
((call_expression (navigation_expression target: (simple_identifier) @_app
    suffix: (navigation_suffix suffix: (simple_identifier) @verb))
  (call_suffix (value_arguments . (value_argument value: (line_string_literal text: (line_str_text) @name)))
    (lambda_literal) @body)) @definition.route
  (#any-of? @_app "app" "routes" "router") (#any-of? @verb "get" "post" "put" "patch" "delete"))

; Documentation
(source_file . (comment) @module.head)

; Imports
(import_declaration (identifier) @import)

; What the hash of a definition leaves out, and keeps to the letter
(comment) @comment
(multiline_comment) @comment
(line_str_text) @verbatim
(multi_line_str_text) @verbatim
(raw_str_part) @verbatim
(raw_str_end_part) @verbatim

; References
(call_expression . [
  (simple_identifier) @reference
  (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @reference))
  (additive_expression rhs: (simple_identifier) @reference)
  (additive_expression
    rhs: (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @reference)))])
(inheritance_specifier inherits_from: (user_type . (type_identifier) @reference))
(attribute (user_type . (type_identifier) @reference))
