; Definitions. The first pattern that matches a node gives it its kind.
(function_definition name: (name) @name) @definition.function
(class_declaration name: (name) @name) @definition.class
(interface_declaration name: (name) @name) @definition.interface
(trait_declaration name: (name) @name) @definition.trait
(enum_declaration name: (name) @name) @definition.enum
(method_declaration name: (name) @name) @definition.method
(const_declaration (const_element . (name) @name)) @definition.constant
(function_call_expression function: (name) @_define arguments: (arguments
  . (argument (string (string_content) @name))) (#eq? @_define "define")) @definition.constant

; Routes: Laravel, Slim, Symfony
((scoped_call_expression scope: (name) @_route name: (name) @verb arguments: (arguments
    . (argument (string (string_content) @name)) . (argument))) @definition.route
  (#eq? @_route "Route")
  (#any-of? @verb "get" "post" "put" "patch" "delete" "options" "any" "match" "resource" "apiResource"))
((member_call_expression object: (variable_name (name) @_app) name: (name) @verb arguments: (arguments
    . (argument (string (string_content) @name)) . (argument))) @definition.route
  (#any-of? @_app "app" "router" "group" "routes")
  (#any-of? @verb "get" "post" "put" "patch" "delete" "options" "any" "map") (#match? @name "^/"))
([(method_declaration attributes: (attribute_list (attribute_group (attribute (name) @_route parameters: (arguments
    . (argument (string (string_content) @name)))) @definition.route)))
  (class_declaration attributes: (attribute_list (attribute_group (attribute (name) @_route parameters: (arguments
    . (argument (string (string_content) @name)))) @definition.route)))] @reach
  (#eq? @_route "Route"))

; Commands: Symfony, Laravel
((class_declaration attributes: (attribute_list (attribute_group (attribute (name) @_command parameters: (arguments
    . (argument (string (string_content) @name)))) @definition.command))) @reach
  (#eq? @_command "AsCommand"))
((property_declaration (property_element name: (variable_name (name) @_signature)
    default_value: (string (string_content) @name))) @definition.command
  (#eq? @_signature "signature"))

; Documentation
(program . (php_tag) . (comment) @module.head)

; Imports
(namespace_use_clause (qualified_name) @import)
(namespace_use_declaration (namespace_name) @import body: (namespace_use_group
  (namespace_use_clause . [(name) (qualified_name)] @import.name)))
(require_expression (_) @import)
(require_once_expression (_) @import)
(include_expression (_) @import)
(include_once_expression (_) @import)

; What the hash of a definition leaves out, and keeps to the letter
(comment) @comment
(string_content) @verbatim
(nowdoc_string) @verbatim
(text) @verbatim

; References
(function_call_expression function: [(name) @reference (qualified_name (name) @reference .)])
(member_call_expression name: (name) @reference)
(nullsafe_member_call_expression name: (name) @reference)
(scoped_call_expression name: (name) @reference)
(object_creation_expression [(name) @reference (qualified_name (name) @reference .)])
(base_clause [(name) @reference (qualified_name (name) @reference .)])
(class_interface_clause [(name) @reference (qualified_name (name) @reference .)])
(use_declaration (name) @reference)
