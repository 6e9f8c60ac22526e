; Keys: those of the top, and below them those that hold a mapping.
(document (block_node (block_mapping (block_mapping_pair key: (flow_node) @name @head) @definition.key)))
(document (block_node (block_mapping (block_mapping_pair value: (block_node (block_mapping
  (block_mapping_pair key: (flow_node) @name @head
    value: [(block_node (block_mapping)) (flow_node (flow_mapping))]) @definition.key))))))

; Documentation
(stream . (comment) @module.head)

; What the hash of a key leaves out, keeps to the letter, and needs as structure
(comment) @comment
(double_quote_scalar) @verbatim
(single_quote_scalar) @verbatim
(plain_scalar) @verbatim
(block_scalar) @verbatim
(block_mapping) @block
(block_sequence) @block
