package nvidia

import "fmt"

// DiagOutcome is the meaning of an exit code of dcgmi diag.
type DiagOutcome string

// The outcomes of dcgmi diag.
const (
	DiagCompleted  DiagOutcome = "completed"   // every test ran
	DiagTestFailed DiagOutcome = "test-failed" // every test ran, one failed
	DiagIsolate    DiagOutcome = "isolate"     // every test ran, a GPU should be isolated
	DiagIncomplete DiagOutcome = "incomplete"  // no result about the hardware
)

// DiagExit explains an exit code of dcgmi diag: a dcgmReturn_t modulo 256. The
// diagDocument counts first: 205 and 226 come with one.
func DiagExit(code int) (outcome DiagOutcome, meaning string) {
	switch code {
	case 0:
		return DiagCompleted, "completed"
	case 226:
		return DiagTestFailed, "a test failed (NVVS_ERROR)"
	case 205:
		return DiagIsolate, "a GPU should be isolated (NVVS_ISOLATE_ERROR)"
	case 217:
		return DiagIncomplete, "another diagnostic is already running"
	case 216:
		return DiagIncomplete, "the diagnostic wrote an unreadable document"
	case 215:
		return DiagIncomplete, "the diagnostic could not be launched"
	case 213:
		return DiagIncomplete, "a threshold was exceeded"
	case 203:
		return DiagIncomplete, "the diagnostic was killed"
	case 198:
		return DiagIncomplete, "unknown test"
	case 235:
		return DiagIncomplete, "no host engine is running: start nvidia-dcgm"
	case 248:
		return DiagIncomplete, "NVML returned an error"
	case 127:
		return DiagIncomplete, "dcgmi is not installed"
	default:
		return DiagIncomplete, fmt.Sprintf("unknown exit code %d", code)
	}
}
