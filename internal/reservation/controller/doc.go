// Package controller does by the clock what the schedule says: it stands up what people
// have by day, takes it down in the evening, and runs the batch at night; each hand-over is
// watched to its end, tried again while its window lasts, and written down before each step.
// Beside that it ends leases that are over, warns holders before that, and cleans what is
// dirty.
//
// One controller works at a time; whoever goes on after it was killed finds in the store
// what was begun. What nobody did, because no controller ran, is written down as failed.
package controller
