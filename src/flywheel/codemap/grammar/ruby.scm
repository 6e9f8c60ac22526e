; Definitions. The first pattern that matches a node gives it its kind.
(class name: (_) @name (superclass)? @_up body: (_)? @body) @definition.class
(module name: (_) @name) @definition.module
(module body: (body_statement [
  (method name: (_) @name) @definition.method (singleton_method name: (_) @name) @definition.method]))
(singleton_class (body_statement (method name: (_) @name) @definition.method))
(singleton_method name: (_) @name) @definition.method
(method name: (_) @name) @definition.function
(assignment left: (constant) @name right: (call receiver: (constant) @_struct method: (identifier) @_new)
  (#any-of? @_struct "Struct" "Class" "Data") (#any-of? @_new "new" "define")) @definition.class
(assignment left: (constant) @name) @definition.constant
(class body: (body_statement (call !receiver method: (identifier) @_attr
    arguments: (argument_list (simple_symbol) @name @definition.method)))
  (#any-of? @_attr "attr_accessor" "attr_reader" "attr_writer"))
(body_statement (call !receiver method: (identifier) @_define arguments: (argument_list . (simple_symbol) @name)
    block: (_) @body) @definition.method
  (#any-of? @_define "define_method" "define_singleton_method"))
(body_statement (call !receiver method: (identifier) @_scope arguments: (argument_list . (simple_symbol) @name
    [(lambda) (call)])) @definition.method (#eq? @_scope "scope"))
(body_statement (call !receiver method: (identifier) @_alias arguments: (argument_list . (simple_symbol) @name
    (simple_symbol))) @definition.method (#eq? @_alias "alias_method"))
(body_statement (alias name: (identifier) @name) @definition.method)
(call method: (identifier) @_namespace arguments: (argument_list . (simple_symbol) @name) block: (_)
  (#any-of? @_namespace "namespace")) @container

; Routes: Rails, Sinatra
((call !receiver method: (identifier) @verb arguments: (argument_list . [
    (pair . key: (string (string_content) @name))
    ((string (string_content) @name) . (pair key: (hash_key_symbol) @_key))])) @definition.route
  (#any-of? @verb "get" "post" "put" "patch" "delete" "options" "match")
  (#any-of? @_key "to" "controller" "action" "as" "via"))
((call !receiver method: (identifier) @verb arguments: (argument_list . (string (string_content) @name))
  block: (_) @body) @definition.route
  (#any-of? @verb "get" "post" "put" "patch" "delete" "options") (#match? @name "^/"))
((call !receiver method: (identifier) @_resources arguments: (argument_list . (simple_symbol) @name)) @definition.route
  (#any-of? @_resources "resources" "resource"))

; Commands: Rake
((call !receiver method: (identifier) @_task arguments: (argument_list . [
    (simple_symbol) @name (string (string_content) @name) (pair . key: (hash_key_symbol) @name)])
  block: (_) @body) @definition.command (#eq? @_task "task"))

; Documentation
(program . (comment) @module.head)

; Imports
((call !receiver method: (identifier) @_require arguments: (argument_list . (string (string_content) @import) .))
  (#eq? @_require "require"))
((call !receiver method: (identifier) @import.name arguments: (argument_list . (string (string_content) @import) .))
  (#eq? @import.name "require_relative"))

; What the hash of a definition leaves out, and keeps to the letter
(comment) @comment
(string_content) @verbatim
(heredoc_content) @verbatim

; References
((call method: (identifier) @reference) (#not-any-of? @reference "require" "require_relative"))
(call receiver: (constant) @reference method: (identifier) @_new (#eq? @_new "new"))
(superclass [(constant) @reference (scope_resolution name: (constant) @reference)])
(call method: (identifier) @_include arguments: (argument_list (constant) @reference)
  (#any-of? @_include "include" "extend" "prepend"))
