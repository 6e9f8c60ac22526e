; Definitions. The first pattern that matches a node gives it its kind.
(config_file (body (block . (identifier) @_block
  . (string_lit (template_literal) @name) . (block_start) @body
  (#any-of? @_block "variable" "output")) @definition.variable))
(config_file (body (block . (identifier) @_block . (string_lit (template_literal) @scope)
  . (string_lit (template_literal) @name) . (block_start) @body) @definition.resource))
(config_file (body (block . (identifier) @_block
  . (string_lit (template_literal) @name) . (block_start) @body) @definition.resource))
(config_file (body (block . (identifier) @_locals . (block_start)
  (body (attribute . (identifier) @name @head) @definition.variable) (#eq? @_locals "locals"))))

; Documentation
(config_file . (comment) @module.head)
(body . (comment) @module.head)

; Imports
((config_file (body (block . (identifier) @_module (body (attribute . (identifier) @_source
  (expression (literal_value (string_lit (template_literal) @import))))))))
  (#eq? @_module "module") (#eq? @_source "source"))

; What the hash of a definition leaves out, and keeps to the letter
(comment) @comment
(template_literal) @verbatim

; References
(expression (variable_expr) . (get_attr (identifier) @reference))
(function_call (identifier) @reference)
