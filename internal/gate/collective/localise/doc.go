// Package localise plans the runs that name the nodes and links which slow a collective, in
// O(log n) rounds of disjoint groups of nodes.
//
// A collective moves data between the pairs of nodes that have a channel (rings and trees), not
// between all pairs. Each node is in a bounded number of these pairs, so a bounded number of
// rounds measures all of them; a link without a channel cannot have slowed the run. A node is
// named if it is bad with three nodes that are good with others, a link if it is bad three times
// and its nodes are good with others. One run over all other nodes then shows that no culprit is
// missing. If that run is bad, halving finds the smallest bad group.
//
// Invariants: Next is pure and deterministic; a node or link with a good run is never named;
// contradictory results are reported, not named.
package localise
