; Definitions. The first pattern that matches a node gives it its kind.
(function_definition name: (identifier) @name) @definition.function
(class_definition name: (identifier) @name) @definition.class
(type_alias_statement left: (type [(identifier) @name (generic_type . (identifier) @name)])) @definition.type
(module (expression_statement (assignment left: (identifier) @name
  (#match? @name "^[A-Z][A-Z0-9_]+$"))) @definition.constant)

(decorated_definition definition: (_) @inner) @decorated

; Documentation
(function_definition body: (block . (expression_statement (string (string_content) @doc)))) @documented
(class_definition body: (block . (expression_statement (string (string_content) @doc)))) @documented
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
