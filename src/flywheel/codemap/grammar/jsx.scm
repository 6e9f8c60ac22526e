
; References
(jsx_opening_element name: [(identifier) @reference (member_expression property: (property_identifier) @reference)])
(jsx_self_closing_element name: [
  (identifier) @reference (member_expression property: (property_identifier) @reference)])
