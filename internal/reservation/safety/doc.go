// Package safety tests that leases are safe, with a model: never two holders at once, tokens only
// grow, no ticket dropped without notice. It has tests only.
//
// Several processes with their own brokers work on one store. They are killed, stopped for longer
// than a lease lasts and restarted, while their clocks jump and old requests are repeated. They
// hold and clean, publish, check out and in, quarantine, extend and notify, also with tokens that
// they only observed. Each records a request before it sends it, and the answer. Afterwards a
// model that shares no code with package lease decides whether the answers are linearizable, and
// the history in the store is checked line by line. Deliberately broken brokers do the same and
// must be detected.
//
// Environment: FIRSTLIGHT_TESTS=all makes 3,000 operations instead of 1,000, soak 100,000;
// FIRSTLIGHT_SAFETY_SEED sets the random seed.
package safety
