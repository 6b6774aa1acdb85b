package dcgmi

import "fmt"

// Outcome is what an exit code says about a diagnostic.
type Outcome string

// The outcomes of dcgmi diag.
const (
	Completed  Outcome = "completed"   // every test ran to its end
	TestFailed Outcome = "test-failed" // ran, and a test failed
	Isolate    Outcome = "isolate"     // ran, and a GPU should be isolated
	Incomplete Outcome = "incomplete"  // says nothing about the hardware
)

// Exit explains an exit code of dcgmi diag: a dcgmReturn_t modulo 256. The
// document counts first: 205 and 226 come with one.
func Exit(code int) (outcome Outcome, meaning string) {
	switch code {
	case 0:
		return Completed, "completed"
	case 226:
		return TestFailed, "a test failed (NVVS_ERROR)"
	case 205:
		return Isolate, "a GPU should be isolated (NVVS_ISOLATE_ERROR)"
	case 217:
		return Incomplete, "another diagnostic is already running"
	case 216:
		return Incomplete, "the diagnostic wrote an unreadable document"
	case 215:
		return Incomplete, "the diagnostic could not be launched"
	case 213:
		return Incomplete, "a threshold was exceeded"
	case 203:
		return Incomplete, "the diagnostic was killed"
	case 198:
		return Incomplete, "there is no such test"
	case 235:
		return Incomplete, "no host engine is running: start nvidia-dcgm"
	case 248:
		return Incomplete, "NVML returned an error"
	case 127:
		return Incomplete, "dcgmi is not installed"
	default:
		return Incomplete, fmt.Sprintf("unknown exit code %d", code)
	}
}
