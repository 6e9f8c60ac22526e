; Definitions. The first pattern that matches a node gives it its kind.
(function_definition name: (word) @name) @definition.function
(program (declaration_command (variable_assignment name: (variable_name) @name)
  (#match? @name "^[A-Z][A-Z0-9_]+$")) @definition.constant)
(program (variable_assignment name: (variable_name) @name
  (#match? @name "^[A-Z][A-Z0-9_]+$")) @definition.constant)

; Documentation
((program . (comment) @_first . (comment) @module.head) (#match? @_first "^#!"))
((program . (comment) @module.head) (#not-match? @module.head "^#!"))

; Imports
((command name: (command_name (word) @_source) . argument: (_) @import) (#any-of? @_source "source" "."))

; What the hash of a definition leaves out, and keeps to the letter
(comment) @comment
(string) @verbatim
(raw_string) @verbatim
(ansi_c_string) @verbatim
(heredoc_body) @verbatim

; References
(command name: (command_name (word) @reference))
