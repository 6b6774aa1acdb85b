// Package simulation runs days of a reservation's life on this machine: a store and controllers in
// their own processes, simulated people, and a cloud whose clusters are labs. The clock skips idle
// hours.
//
// Each day's expected result is declared first and compared with what happened: hand-overs, cells,
// disturbances and their consequences. Every difference is a finding, and so is any overlap of two
// holders.
package simulation
