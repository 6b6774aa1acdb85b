// Package schedule tests that recipes schedule: each recipe becomes a cell
// (nodes of its provider's shape, the pods of its components, a GPU workload,
// negative controls), the cell is put on a control plane with the real scheduler
// and controllers, and what came of it is judged.
//
//	cell    a recipe as the scheduler sees it; fingerprints, controls
//	seen    what is seen of a cell
//	judge   what has to be there, and whether it is
//	class   recipes that are the same to the scheduler
//	arena   cells on a control plane
//
// One recipe's test is one Check. Nothing here knows of labs: who calls brings
// control planes.
package schedule
