// Package safety tests by model that leases are safe: no two holders at once, tokens
// that only grow, nobody dropped in silence. It is tests alone.
//
// Processes with brokers of their own work on one store, and are killed, stopped for
// longer than a lease lasts and started again, while their clocks jump and old
// requests are sent again. They hold and clean, open what they hold to others, take
// that over, hand it back, impound, extend and give notice, also with tokens that they
// only saw. Each writes down what it asks before it asks, and what it was answered.
// Afterwards a model that shares no code with package lease says whether the
// answers can be those of one reservation, and the store's history is read line by line.
// Brokers that were broken on purpose do the same, and have to be caught.
//
// Environment: FIRSTLIGHT_TESTS=all makes 3,000 operations of 1,000, soak 100,000;
// FIRSTLIGHT_SAFETY_SEED chooses what happens.
package safety
