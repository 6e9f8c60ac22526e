; Definitions. The first pattern that matches a node gives it its kind.
(function_item name: (identifier) @name) @definition.function
(function_signature_item name: (identifier) @name) @definition.function
(struct_item name: (type_identifier) @name) @definition.struct
(union_item name: (type_identifier) @name) @definition.struct
(enum_item name: (type_identifier) @name) @definition.enum
(trait_item name: (type_identifier) @name) @definition.trait
(type_item name: (type_identifier) @name) @definition.type
(mod_item name: (identifier) @name body: (_)) @definition.module
(macro_definition name: (identifier) @name . (macro_rule) @body) @definition.function
(macro_definition name: (identifier) @name) @definition.function
(const_item name: (identifier) @name) @definition.constant
(static_item name: (identifier) @name) @definition.constant

(impl_item type: [
  (type_identifier) @name
  (generic_type type: (type_identifier) @name)
  (scoped_type_identifier name: (type_identifier) @name)
  (generic_type type: (scoped_type_identifier name: (type_identifier) @name))]) @container

(attribute_item) @prefix

; Routes: axum, actix, Rocket
((call_expression function: (field_expression field: (field_identifier) @_route)
    arguments: (arguments . (string_literal (string_content) @name) . (call_expression function: [
      (identifier) @verb (scoped_identifier name: (identifier) @verb)]))) @definition.route
  (#eq? @_route "route"))
((attribute_item (attribute (identifier) @verb arguments: (token_tree . (string_literal (string_content) @name))))
  @definition.route
  (#any-of? @verb "get" "head" "post" "put" "patch" "delete" "options" "route"))

; Commands: clap
((attribute_item) @_derive . (attribute_item)* . (enum_item body: (enum_variant_list
    (enum_variant name: (identifier) @kebab) @definition.command))
  (#match? @_derive "\\bSubcommand\\b"))
((call_expression
    function: (scoped_identifier path: (identifier) @needs.clap name: (identifier) @_new)
    arguments: (arguments . (string_literal (string_content) @name) .)) @definition.command
  (#eq? @needs.clap "Command") (#eq? @_new "new"))
((call_expression
    function: (scoped_identifier
      path: (scoped_identifier path: (identifier) @_clap name: (identifier) @_command) name: (identifier) @_new)
    arguments: (arguments . (string_literal (string_content) @name) .)) @definition.command
  (#eq? @_clap "clap") (#eq? @_command "Command") (#eq? @_new "new"))

; Documentation
(source_file (line_comment (inner_doc_comment_marker) (doc_comment) @module.doc))

; Imports
(use_declaration argument: (_) @import)
(mod_item name: (identifier) !body) @import
(extern_crate_declaration name: (identifier) @import)

; What the hash of a definition leaves out, and keeps to the letter
(line_comment) @comment
(block_comment) @comment
(string_content) @verbatim
(char_literal) @verbatim

; References
(call_expression function: [
  (identifier) @reference
  (field_expression field: (field_identifier) @reference)
  (scoped_identifier name: (identifier) @reference)
  (generic_function function: [
    (identifier) @reference
    (field_expression field: (field_identifier) @reference)
    (scoped_identifier name: (identifier) @reference)])])
(macro_invocation macro: [(identifier) @reference (scoped_identifier name: (identifier) @reference)])
(struct_expression name: [(type_identifier) @reference (scoped_type_identifier name: (type_identifier) @reference)])
(impl_item trait: [
  (type_identifier) @reference
  (generic_type type: (type_identifier) @reference)
  (scoped_type_identifier name: (type_identifier) @reference)])
