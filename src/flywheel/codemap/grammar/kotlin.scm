; Definitions. The first pattern that matches a node gives it its kind.
(class_declaration (modifiers (class_modifier) @_modifier) name: (identifier) @name
  [(enum_class_body) (class_body)]? @body (#eq? @_modifier "enum")) @definition.enum
(class_declaration "interface" name: (identifier) @name (class_body)? @body) @definition.interface
(class_declaration name: (identifier) @name (class_body)? @body) @definition.class
(object_declaration name: (identifier) @name (class_body)? @body) @definition.class
(companion_object name: (identifier) @name (class_body)? @body) @container
(secondary_constructor "constructor" @name (block)? @body) @definition.method
(function_declaration (user_type (identifier) @scope . (type_arguments)? .) . name: (identifier) @name (function_body)? @body
  (#not-eq? @name "")) @definition.method
(function_declaration (user_type (identifier) @scope (identifier) @name .) . name: (identifier) @_none
  (function_body)? @body (#eq? @_none "")) @definition.method
(function_declaration name: (identifier) @name (function_body)? @body (#not-eq? @name "")) @definition.function
(type_alias type: (identifier) @name) @definition.type
(property_declaration (modifiers (property_modifier) @_modifier) (variable_declaration (identifier) @name)
  (#eq? @_modifier "const")) @definition.constant
(source_file (property_declaration (variable_declaration (identifier) @name)
  (#match? @name "^[A-Z][A-Z0-9_]+$")) @definition.constant)

; Routes: Spring, JAX-RS, Ktor
([(function_declaration (modifiers (annotation (constructor_invocation (user_type (identifier) @verb)
    (value_arguments . (value_argument (string_literal (string_content) @name))))) @definition.route))
  (class_declaration (modifiers (annotation (constructor_invocation (user_type (identifier) @verb)
    (value_arguments . (value_argument (string_literal (string_content) @name))))) @definition.route))
 ] @reach (#match? @verb "^(Get|Post|Put|Patch|Delete|Request)Mapping$|^Path$"))
((function_declaration (modifiers (annotation [
    (user_type (identifier) @verb) (constructor_invocation (user_type (identifier) @verb))]) @definition.route)) @reach
  (#match? @verb "^(Get|Post|Put|Patch|Delete)Mapping$|^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$"))
((call_expression (call_expression (identifier) @verb
    (value_arguments . (value_argument (string_literal (string_content) @name))))
  (annotated_lambda) @body) @definition.route
  (#any-of? @verb "get" "head" "post" "put" "patch" "delete" "options" "route") (#match? @name "^/"))

; Documentation
(source_file . [(line_comment) (block_comment)] @module.head)
(package_header) @module

; Imports
(import (qualified_identifier) @import . "*"? @import.name)

; What the hash of a definition leaves out, and keeps to the letter
(line_comment) @comment
(block_comment) @comment
(string_content) @verbatim
(character_literal) @verbatim

; References
(call_expression . [(identifier) @reference (navigation_expression (identifier) @reference .)])
(constructor_invocation (user_type (identifier) @reference .))
(delegation_specifier (user_type (identifier) @reference .))
(annotation (user_type (identifier) @reference .))
(callable_reference (identifier) @reference .)
