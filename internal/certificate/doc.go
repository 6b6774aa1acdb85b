// Package certificate derives a certificate of acceptance from the verified evidence of a run and
// the terms that the parties agreed: inventory with serial numbers, figures against the contract,
// deviations with their waivers, the evidence's digest, names and dates.
//
// Every deviation from the whole playbook on the ordered inventory needs a waiver with an owner and
// an expiry. A waived deviation is never a pass: its gate is Waived, and the decision WithWaivers.
// Derivation is pure: the same evidence, terms and time give the same certificate, so that a
// certificate can be compared with its run.
package certificate
