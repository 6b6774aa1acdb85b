package nvidia

import (
	"regexp"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// SMIErrors are the messages of nvidia-smi about an unreachable driver or GPU.
type SMIErrors struct {
	// NVML is the reason why NVML is unavailable: "Failed to initialize NVML:
	// Driver/library version mismatch".
	NVML string `json:"nvml,omitempty"`
	// LostGPU are the GPUs that do not answer.
	Lost []LostGPU `json:"lost,omitempty"`
	// Faulty are GPUs that answer, with a fault that only a message tells:
	// "WARNING: infoROM is corrupted at gpu 0000:3B:00.0".
	Faulty []LostGPU `json:"faulty,omitempty"`
}

// LostGPU is a GPU that a message is about.
type LostGPU struct {
	// BusID is "0000:3b:00.0"; empty if the message has none.
	BusID string `json:"busID,omitempty"`
	Text  string `json:"text"`
}

// Any reports whether there is a message about an unreachable driver or GPU.
func (t SMIErrors) Any() bool { return t.NVML != "" || len(t.Lost) > 0 }

const maxLost = 64

// Messages of nvidia-smi, in lower case: NVML is unavailable, one GPU is lost, one has a fault (exit codes
// 14 and 8).
var (
	noNVML = []string{
		"failed to initialize nvml", "couldn't communicate with the nvidia driver",
		"nvml library not found", "couldn't find libnvidia-ml.so", "no devices were found",
	}
	lost   = []string{"unable to determine the device handle for", "gpu is lost"}
	faulty = []string{"inforom is corrupted", "power cables are not properly attached"}
	bus    = regexp.MustCompile(`(?i)[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]`)
)

// mentions reports whether a line has one of the phrases, ignoring case.
func mentions(line string, phrases []string) bool {
	line = strings.ToLower(line)
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(line, p) })
}

// ParseSMIErrors finds the messages about an unreachable driver or a bad GPU in the output streams
// of nvidia-smi. It ignores an XML document in them.
func ParseSMIErrors(streams ...[]byte) (SMIErrors, error) {
	return guard.Parse("messages of nvidia-smi", func() (SMIErrors, error) { return smiErrors(streams), nil })
}

func smiErrors(streams [][]byte) SMIErrors {
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

func (t *SMIErrors) line(line string) {
	if t.NVML == "" && mentions(line, noNVML) {
		t.NVML = clip(line, maxText)
	}
	switch {
	case mentions(line, lost):
		addGPU(&t.Lost, line)
	case mentions(line, faulty):
		addGPU(&t.Faulty, line)
	}
}

// addGPU adds the GPU that a line names, once.
func addGPU(to *[]LostGPU, line string) {
	l := LostGPU{Text: clip(line, maxText)}
	if m := bus.FindString(line); m != "" {
		l.BusID, _ = busID(m) // the expression fits
	}
	if len(*to) < maxLost && !slices.Contains(*to, l) {
		*to = append(*to, l)
	}
}
