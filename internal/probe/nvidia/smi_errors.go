package nvidia

import (
	"regexp"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// SMIErrors is what nvidia-smi says when it can't reach a GPU or the driver.
type SMIErrors struct {
	// NVML is why nothing could be asked at all: "Failed to initialize NVML:
	// Driver/library version mismatch".
	NVML string `json:"nvml,omitempty"`
	// LostGPU are the GPUs that don't answer.
	Lost []LostGPU `json:"lost,omitempty"`
}

// LostGPU is a GPU that doesn't answer.
type LostGPU struct {
	// BusID is "0000:3b:00.0"; empty when the message has none.
	BusID string `json:"busID,omitempty"`
	Text  string `json:"text"`
}

// Some says that there is trouble.
func (t SMIErrors) Some() bool { return t.NVML != "" || len(t.Lost) > 0 }

const maxLost = 64

// How nvidia-smi says, in lower case, that it reaches nothing, or not one GPU.
var (
	noNVML = []string{
		"failed to initialize nvml", "couldn't communicate with the nvidia driver",
		"nvml library not found", "couldn't find libnvidia-ml.so", "no devices were found",
	}
	lost = []string{"unable to determine the device handle for", "gpu is lost"}
	bus  = regexp.MustCompile(`(?i)[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]`)
)

// mentions says that a line has one of the phrases, in upper or lower case.
func mentions(line string, phrases []string) bool {
	line = strings.ToLower(line)
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(line, p) })
}

// ParseSMIErrors finds the lines about what can't be reached in anything that
// nvidia-smi printed, on either stream; a document among them is passed over.
func ParseSMIErrors(streams ...[]byte) (SMIErrors, error) {
	return guard.Parse("nvidia-smi's messages", func() (SMIErrors, error) { return troubles(streams), nil })
}

func troubles(streams [][]byte) SMIErrors {
	var t SMIErrors
	for _, data := range streams {
		text := strings.ToValidUTF8(string(data), "?")
		if i := strings.Index(text, "<?xml"); i >= 0 {
			before, after := text[:i], ""
			if end := strings.LastIndex(text, "</nvidia_smi_log>"); end >= 0 {
				after = text[end:]
			}
			text = before + after
		}
		for line := range strings.Lines(text) {
			t.line(line)
		}
	}
	return t
}

// line keeps a line about what cannot be reached.
func (t *SMIErrors) line(line string) {
	if t.NVML == "" && mentions(line, noNVML) {
		t.NVML = smiCut(line)
	}
	if len(t.Lost) >= maxLost || !mentions(line, lost) {
		return
	}
	l := LostGPU{Text: smiCut(line)}
	if m := bus.FindString(line); m != "" {
		l.BusID, _ = busID(m) // the expression fits
	}
	if !slices.Contains(t.Lost, l) {
		t.Lost = append(t.Lost, l)
	}
}

func smiCut(s string) string {
	const maxText = 300
	s = strings.TrimSpace(s)
	if len(s) > maxText {
		return strings.ToValidUTF8(s[:maxText], "") + "..."
	}
	return s
}
