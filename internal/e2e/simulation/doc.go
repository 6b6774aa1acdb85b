// Package rehearsal plays days of a reservation's life on this machine: a store and
// controllers in processes of their own, people, and a cloud whose clusters are labs, really
// started and ended. Between the things that are due the clock jumps.
//
// What is to happen is written down beforehand: hand-overs, cells, disturbances, and what
// comes of each. What did not happen, or happened otherwise, is a finding; so is whatever
// two holders would have had at once.
package simulation
