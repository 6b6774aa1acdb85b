package hook

// Verdict of a test.
type Verdict string

// The verdicts. What could not be seen is not a pass.
const (
	Passed     Verdict = "passed"
	Failed     Verdict = "failed"
	Unobserved Verdict = "unobserved"
)

// Result is what a test of a deployment came to.
type Result struct {
	Verdict Verdict `json:"verdict"`
	// Checks is how many there were; a pass has at least one.
	Checks int `json:"checks"`
	// Evidence says where it is kept: a path, a URL, a digest.
	Evidence string `json:"evidence,omitempty"`
	// Why says what failed, or could not be seen.
	Why string `json:"why,omitempty"`
}
