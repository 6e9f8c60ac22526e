; Definitions. The first pattern that matches a node gives it its kind.
(class_declaration name: (identifier) @name) @definition.class
(record_declaration name: (identifier) @name) @definition.class
(interface_declaration name: (identifier) @name) @definition.interface
(annotation_type_declaration name: (identifier) @name) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(method_declaration name: (identifier) @name) @definition.method
(constructor_declaration name: (identifier) @name) @definition.method
(compact_constructor_declaration name: (identifier) @name) @definition.method
(annotation_type_element_declaration name: (identifier) @name) @definition.method
(field_declaration (modifiers) @_modifiers declarator: (variable_declarator name: (identifier) @name)
  (#match? @_modifiers "\\bstatic\\b") (#match? @_modifiers "\\bfinal\\b")
  (#match? @name "^[A-Z][A-Z0-9_]+$")) @definition.constant
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.constant

; Routes: Spring, JAX-RS
((method_declaration (modifiers (annotation name: (identifier) @_request arguments: (annotation_argument_list
    (element_value_pair key: (identifier) @_key value: (string_literal (string_fragment) @name))
    (element_value_pair key: (identifier) @_method value: [
      (field_access field: (identifier) @verb) (identifier) @verb]))) @definition.route)) @reach
  (#eq? @_request "RequestMapping") (#any-of? @_key "value" "path") (#eq? @_method "method"))
([(method_declaration (modifiers (annotation name: (identifier) @verb arguments: (annotation_argument_list . [
    (string_literal (string_fragment) @name)
    (element_value_pair key: (identifier) @_key value: (string_literal (string_fragment) @name))])) @definition.route))
  (class_declaration (modifiers (annotation name: (identifier) @verb arguments: (annotation_argument_list . [
    (string_literal (string_fragment) @name)
    (element_value_pair key: (identifier) @_key value: (string_literal (string_fragment) @name))])) @definition.route))
  (interface_declaration (modifiers (annotation name: (identifier) @verb arguments: (annotation_argument_list . [
    (string_literal (string_fragment) @name)
    (element_value_pair key: (identifier) @_key value: (string_literal (string_fragment) @name))])) @definition.route))
 ] @reach
  (#match? @verb "^(Get|Post|Put|Patch|Delete|Request)Mapping$|^Path$") (#any-of? @_key "value" "path"))
((method_declaration (modifiers (annotation name: (identifier) @verb arguments: (annotation_argument_list
    (element_value_pair value: (element_value_array_initializer (string_literal (string_fragment) @name)
      @definition.route)))))) @reach (#match? @verb "^(Get|Post|Put|Patch|Delete|Request)Mapping$"))
((method_declaration (modifiers (annotation name: (identifier) @verb arguments: (annotation_argument_list
    (element_value_array_initializer (string_literal (string_fragment) @name) @definition.route))))) @reach
  (#match? @verb "^(Get|Post|Put|Patch|Delete|Request)Mapping$"))
((method_declaration (modifiers [
    (annotation name: (identifier) @verb) (marker_annotation name: (identifier) @verb)] @definition.route)) @reach
  (#match? @verb "^(Get|Post|Put|Patch|Delete)Mapping$|^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$"))

; Commands: picocli
(class_declaration (modifiers (annotation name: (identifier) @_command arguments: (annotation_argument_list
    (element_value_pair key: (identifier) @_key value: (string_literal (string_fragment) @name)))) @definition.command)
  (#eq? @_command "Command") (#eq? @_key "name")) @reach

; Documentation
(package_declaration) @module

; Imports
(import_declaration [(scoped_identifier) (identifier)] @import . (asterisk)? @import.name)

; What the hash of a definition leaves out, and keeps to the letter
(line_comment) @comment
(block_comment) @comment
(string_fragment) @verbatim
(multiline_string_fragment) @verbatim
(character_literal) @verbatim

; References
(method_invocation name: (identifier) @reference)
(method_reference (identifier) @reference .)
(object_creation_expression type: [
  (type_identifier) @reference
  (generic_type . (type_identifier) @reference)
  (scoped_type_identifier (type_identifier) @reference .)])
(superclass [(type_identifier) @reference (generic_type . (type_identifier) @reference)])
(super_interfaces (type_list [(type_identifier) @reference (generic_type . (type_identifier) @reference)]))
(extends_interfaces (type_list [(type_identifier) @reference (generic_type . (type_identifier) @reference)]))
(marker_annotation name: (identifier) @reference)
(annotation name: (identifier) @reference)
