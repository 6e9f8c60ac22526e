; Definitions. The first pattern that matches a node gives it its kind.
(function_definition name: (identifier) @name) @definition.function
(class_definition name: (identifier) @name) @definition.class
(type_alias_statement left: (type [(identifier) @name (generic_type . (identifier) @name)])) @definition.type
(module (expression_statement (assignment left: (identifier) @name
  (#match? @name "^[A-Z][A-Z0-9_]+$"))) @definition.constant)

(module (expression_statement (assignment left: (identifier) @name right: (lambda body: (_) @body))
  @definition.function))
(module (expression_statement (assignment left: (identifier) @name type: (type [
    (identifier) @_alias (attribute attribute: (identifier) @_alias)])) @definition.type)
  (#eq? @_alias "TypeAlias"))
(module (expression_statement (assignment left: (identifier) @name right: (call function: [
    (identifier) @_made (attribute attribute: (identifier) @_made)] arguments: (argument_list . (string)))) @definition.type)
  (#any-of? @_made "NewType" "TypedDict" "NamedTuple" "namedtuple" "Enum" "IntEnum" "StrEnum"))

(decorated_definition definition: (_) @inner) @decorated

; Routes: Flask, FastAPI, Starlette, Django
((decorated_definition (decorator (call function: (attribute object: (_) @on attribute: (identifier) @_route)
    arguments: (argument_list . (string (string_content) @name) (keyword_argument name: (identifier) @_methods
      value: [(list) (tuple)] @verb)))) @definition.route)
  @reach (#any-of? @_route "route" "api_route") (#eq? @_methods "methods") (#match? @name "^/"))
((decorated_definition (decorator (call function: (attribute object: (_) @on attribute: (identifier) @verb)
    arguments: (argument_list . (string (string_content) @name)))) @definition.route) @reach
  (#any-of? @verb "route" "get" "head" "post" "put" "patch" "delete" "options" "api_route" "websocket")
  (#match? @name "^/"))
((list (call function: (identifier) @_route arguments: (argument_list . (string (string_content) @name) . (_)))
  @definition.route) (#any-of? @_route "Route" "WebSocketRoute" "Mount"))
((assignment left: (identifier) @on right: (list (call function: (identifier) @_path
    arguments: (argument_list . (string (string_content) @name))) @definition.route))
  (#eq? @on "urlpatterns") (#any-of? @_path "path" "re_path" "url"))
((assignment left: (identifier) right: (call function: [
    (identifier) @_router (attribute attribute: (identifier) @_router)])) @made
  (#any-of? @_router "APIRouter" "Blueprint" "FastAPI" "Flask" "Quart" "Starlette"))
(module (expression_statement (assignment left: (identifier) @_urls) @made)
  (#any-of? @_urls "urlpatterns" "ROOT_URLCONF"))
((call function: (attribute attribute: (identifier) @_join)) @joint
  (#any-of? @_join "include_router" "register_blueprint" "mount"))
((call function: (identifier) @_join) @joint (#any-of? @_join "include" "Mount"))

; Commands: click, Typer, argparse
((decorated_definition (decorator (call function: (attribute attribute: (identifier) @_command)
    arguments: (argument_list [
      (string (string_content) @name)
      (keyword_argument name: (identifier) @_name value: (string (string_content) @name))]))) @definition.command) @reach
  (#any-of? @_command "command" "group") (#eq? @_name "name"))
((decorated_definition
    (decorator [
      (attribute attribute: (identifier) @_command)
      (call function: (attribute attribute: (identifier) @_command))]) @definition.command
    definition: (function_definition name: (identifier) @kebab)) @reach
  (#any-of? @_command "command" "group"))
([(assignment right: (call function: (attribute attribute: (identifier) @_add)
    arguments: (argument_list . (string (string_content) @name))) @definition.command)
  (expression_statement (call function: (attribute attribute: (identifier) @_add)
    arguments: (argument_list . (string (string_content) @name))) @definition.command)]
  (#eq? @_add "add_parser"))

; Documentation
(function_definition body: (block . (expression_statement (string (string_content) @doc)))) @documented
(class_definition body: (block . (expression_statement (string (string_content) @doc)))) @documented
(decorated_definition definition: (function_definition
  body: (block . (expression_statement (string (string_content) @doc))))) @documented
(module . (comment)* . (expression_statement (string (string_content) @module.doc)))

; Imports
(import_statement name: [(dotted_name) @import (aliased_import name: (dotted_name) @import)])
(import_from_statement module_name: (_) @import
  name: [(dotted_name) @import.name (aliased_import name: (dotted_name) @import.name)])
(import_from_statement module_name: (_) @import (wildcard_import))

; What the hash of a definition leaves out, keeps to the letter, and needs as structure
(comment) @comment
(line_continuation) @comment
(string_content) @verbatim
(block) @block

; References
(call function: [(identifier) @reference (attribute attribute: (identifier) @reference)])
(decorator [(identifier) @reference (attribute attribute: (identifier) @reference)])
(class_definition superclasses: (argument_list [(identifier) @reference (attribute attribute: (identifier) @reference)]))
