; Definitions. The first pattern that matches a node gives it its kind.
(function_declaration name: (identifier) @name) @definition.function
(generator_function_declaration name: (identifier) @name) @definition.function
(function_signature name: (identifier) @name) @definition.function
(class_declaration name: (type_identifier) @name) @definition.class
(abstract_class_declaration name: (type_identifier) @name) @definition.class
(interface_declaration name: (type_identifier) @name) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(type_alias_declaration name: (type_identifier) @name) @definition.type
(internal_module name: (_) @name) @definition.module
(module name: [(identifier) (nested_identifier)] @name) @definition.module
(class_body (method_definition name: (_) @name) @definition.method)
(method_signature name: (_) @name) @definition.method
(abstract_method_signature name: (_) @name) @definition.method
(public_field_definition name: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(variable_declarator name: (identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)
          (generator_function body: (_) @body)]) @definition.function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @definition.class
(program (lexical_declaration (variable_declarator name: (identifier) @name
  (#match? @name "^[A-Z][A-Z0-9_]+$")) @definition.constant))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name
  (#match? @name "^[A-Z][A-Z0-9_]+$")) @definition.constant)))
(assignment_expression
  left: (member_expression property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.function

(expression_statement [(assignment_expression) (internal_module)] @inner) @outer
(ambient_declaration (_) @inner) @outer
(export_statement declaration: (_) @inner) @outer

; Routes: Express, Fastify, Nest
((call_expression
    function: (member_expression object: (identifier) @on property: (property_identifier) @verb)
    arguments: (arguments . (string (string_fragment) @name) . (_))) @definition.route
  (#any-of? @verb "get" "head" "post" "put" "patch" "delete" "options" "all")
  (#match? @on "^(app|.*[rR]outer|server|routes?|fastify)$") (#match? @name "^[/*]"))
((decorator (call_expression function: (identifier) @verb arguments: (arguments . (string (string_fragment) @name))))
  @definition.route
  (#any-of? @verb "Get" "Head" "Post" "Put" "Patch" "Delete" "Options" "All" "Controller"))
((decorator (call_expression function: (identifier) @_controller arguments: (arguments . (object
    (pair key: (property_identifier) @_path value: (string (string_fragment) @name)))))) @definition.route
  (#eq? @_controller "Controller") (#eq? @_path "path"))
((decorator (call_expression function: (identifier) @verb arguments: (arguments))) @definition.route
  (#any-of? @verb "Get" "Head" "Post" "Put" "Patch" "Delete" "Options"))
((variable_declarator name: (identifier) value: (call_expression function: [
    (identifier) @_router (member_expression property: (property_identifier) @_router)])) @made
  (#any-of? @_router "Router" "express"))
((call_expression function: (member_expression property: (property_identifier) @_join)) @joint
  (#eq? @_join "use"))

; Commands: commander, yargs
((call_expression function: (member_expression property: (property_identifier) @_command)
    arguments: (arguments . (string (string_fragment) @name))) @definition.command
  (#eq? @_command "command"))

; Documentation
(program . (hash_bang_line)? . (comment) @module.doc
  (#match? @module.doc "@(fileoverview|file|module|packageDocumentation)\\b"))

; Imports
(import_statement source: (string (string_fragment) @import))
(import_require_clause source: (string (string_fragment) @import))
(export_statement source: (string (string_fragment) @import))
(call_expression function: [(import) (identifier) @_require]
  arguments: (arguments . (string (string_fragment) @import) .)
  (#eq? @_require "require"))

; What the hash of a definition leaves out, and keeps to the letter
(comment) @comment
(string_fragment) @verbatim
(regex_pattern) @verbatim

; References
(call_expression function: [(identifier) @reference (member_expression property: (property_identifier) @reference)])
(new_expression constructor: [(identifier) @reference (member_expression property: (property_identifier) @reference)])
(decorator (identifier) @reference)
(extends_clause value: [(identifier) @reference (member_expression property: (property_identifier) @reference)])
(implements_clause [(type_identifier) @reference (generic_type name: (type_identifier) @reference)])
