package access

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
	"github.com/firstlight/firstlight/internal/probe/guard"
)

// The first and the last line of the script's output: a log without them is truncated.
const (
	logBegin = "firstlight-devices begins"
	logEnd   = "firstlight-devices ends"
)

// script prints which GPUs a container sees, by their device files and by the driver. It
// needs only a shell of the image: the container toolkit injects nvidia-smi with the GPU.
const script = `exec 2>&1
echo ` + logBegin + `
for d in /dev/nvidia[0-9]*; do if [ -e "$d" ]; then echo "device $d"; fi; done
nvidia-smi -L
echo ` + logEnd + `
` + testpod.Sleep

// Results of nvidia-smi in a container.
const (
	toolLists  = "lists"  // it listed GPUs
	toolAbsent = "absent" // it is not installed
	toolNone   = "none"   // it found no device
	toolFailed = "failed"
)

// Devices are the devices that a container sees.
type Devices struct {
	// Files are the GPUs' device files.
	Files []string `json:"files"`
	// UUIDs of the GPUs and MIG devices that nvidia-smi lists.
	UUIDs []string `json:"uuids"`
	// Tool is the result of nvidia-smi, ToolOutput its output where it listed nothing.
	Tool       string `json:"tool"`
	ToolOutput string `json:"toolSays,omitempty"`
}

// None reports whether the container certainly sees no GPU.
func (d Devices) None() bool {
	return len(d.Files) == 0 && len(d.UUIDs) == 0 && (d.Tool == toolAbsent || d.Tool == toolNone)
}

// Any reports whether it sees a GPU, by its file or by the driver.
func (d Devices) Any() bool { return len(d.Files) > 0 || len(d.UUIDs) > 0 }

// Lines of nvidia-smi and of the script.
var (
	fileLine = regexp.MustCompile(`^device (/dev/nvidia[0-9]+)$`)
	gpuLine  = regexp.MustCompile(`^GPU [0-9]+: .+ \(UUID: (GPU-[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\)$`)
	migLine  = regexp.MustCompile(`^ +MIG .+ Device +[0-9]+: \(UUID: (MIG-[0-9a-zA-Z/-]+)\)$`)
	absent   = regexp.MustCompile(`^(?:[^ ]+: )?(?:line )?(?:[0-9]+: )?nvidia-smi: (?:command )?not found$`)
	none     = regexp.MustCompile(`^No devices (?:were )?found\.?$`)
	failed   = regexp.MustCompile(`^(?:NVIDIA-SMI has failed|NVIDIA-SMI couldn't find|Failed to initialize NVML|Unable to determine the device handle)`)
)

// maxToolOutput is the length after which no more lines of a message are kept: the log itself is stored.
const maxToolOutput = 4096

// ParseDevices reads the output of the script. A log that is empty, truncated at either end,
// or has an unknown line is an error: it does not show that the container sees nothing.
func ParseDevices(log []byte) (Devices, error) {
	return guard.Parse("log of the pod", func() (Devices, error) { return parseDevices(log) })
}

func parseDevices(log []byte) (Devices, error) {
	d := Devices{Files: []string{}, UUIDs: []string{}}
	lines := strings.Split(string(log), "\n")
	if last := len(lines) - 1; lines[last] != "" {
		return d, errors.New("truncated log: its last line has no newline")
	}
	lines = lines[:len(lines)-1]
	if len(lines) == 0 {
		return d, errors.New("empty log")
	}
	if lines[0] != logBegin {
		return d, fmt.Errorf("truncated log: must begin with %q", logBegin)
	}
	if len(lines) < 2 || lines[len(lines)-1] != logEnd {
		return d, fmt.Errorf("truncated log: must end with %q", logEnd)
	}
	for i, line := range lines[1 : len(lines)-1] {
		if err := d.read(line); err != nil {
			return d, fmt.Errorf("line %d of the log, %.80q: %w", i+2, line, err)
		}
	}
	if d.Tool == "" {
		return d, errors.New("no output of nvidia-smi in the log")
	}
	return d, nil
}

func (d *Devices) read(line string) error {
	if m := fileLine.FindStringSubmatch(line); m != nil {
		if d.Tool != "" {
			return errors.New("device file after the output of nvidia-smi")
		}
		d.Files = append(d.Files, m[1])
		return nil
	}
	if m := gpuLine.FindStringSubmatch(line); m != nil {
		return d.list(m[1])
	}
	if m := migLine.FindStringSubmatch(line); m != nil && d.Tool == toolLists {
		return d.list(m[1])
	}
	var tool string
	switch {
	case d.Tool == toolFailed: // the message has several lines
		if len(d.ToolOutput) > maxToolOutput {
			return nil
		}
		tool = toolFailed
		line = d.ToolOutput + " " + strings.TrimSpace(line)
	case d.Tool != "":
		return errors.New("unexpected line after the output of nvidia-smi")
	case absent.MatchString(line):
		tool = toolAbsent
	case none.MatchString(line):
		tool = toolNone
	case failed.MatchString(line):
		tool = toolFailed
	default:
		return errors.New("neither a device file nor output of nvidia-smi -L")
	}
	d.Tool, d.ToolOutput = tool, line
	return nil
}

func (d *Devices) list(uuid string) error {
	if d.Tool != "" && d.Tool != toolLists {
		return errors.New("GPU after the end of nvidia-smi's list")
	}
	d.Tool = toolLists
	d.UUIDs = append(d.UUIDs, uuid)
	return nil
}
