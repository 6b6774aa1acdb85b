package access

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// What nvidia-smi came to in a container.
const (
	toolLists  = "lists"  // it listed GPUs
	toolAbsent = "absent" // there is none
	toolNone   = "none"   // it says that there is no device
	toolFailed = "failed" // it can't tell
)

// Sight is what a container sees.
type Sight struct {
	// Files are the GPUs' device files.
	Files []string `json:"files"`
	// UUIDs are those of the GPUs that nvidia-smi lists, and of parts of GPUs.
	UUIDs []string `json:"uuids"`
	// Tool is what nvidia-smi came to, ToolSays its words when it listed nothing.
	Tool     string `json:"tool"`
	ToolSays string `json:"toolSays,omitempty"`
}

// Nothing says that the container sees no GPU at all.
func (s Sight) Nothing() bool {
	return len(s.Files) == 0 && len(s.UUIDs) == 0 && (s.Tool == toolAbsent || s.Tool == toolNone)
}

// Something says that it sees a GPU, by its file or by the driver.
func (s Sight) Something() bool { return len(s.Files) > 0 || len(s.UUIDs) > 0 }

// forms of nvidia-smi's lines.
var (
	fileLine = regexp.MustCompile(`^device (/dev/nvidia[0-9]+)$`)
	gpuLine  = regexp.MustCompile(`^GPU [0-9]+: .+ \(UUID: (GPU-[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\)$`)
	migLine  = regexp.MustCompile(`^ +MIG .+ Device +[0-9]+: \(UUID: (MIG-[0-9a-zA-Z/-]+)\)$`)
	absent   = regexp.MustCompile(`^(?:[^ ]+: )?(?:line )?(?:[0-9]+: )?nvidia-smi: (?:command )?not found$`)
	none     = regexp.MustCompile(`^No devices (?:were )?found\.?$`)
	failed   = regexp.MustCompile(`^(?:NVIDIA-SMI has failed|NVIDIA-SMI couldn't find|Failed to initialize NVML|Unable to determine the device handle)`)
)

// ParseSight reads what the script wrote. A log that is empty, cut off at either
// end, or holds a line that is none of the script's is an error: it doesn't say that
// the container sees nothing.
func ParseSight(log []byte) (Sight, error) {
	return guard.Parse("log of the pod", func() (Sight, error) { return parseSight(log) })
}

func parseSight(log []byte) (Sight, error) {
	s := Sight{Files: []string{}, UUIDs: []string{}}
	lines := strings.Split(string(log), "\n")
	if last := len(lines) - 1; lines[last] != "" {
		return s, errors.New("the log is cut off: its last line has no end")
	}
	lines = lines[:len(lines)-1]
	if len(lines) == 0 {
		return s, errors.New("the log is empty")
	}
	if lines[0] != begins {
		return s, fmt.Errorf("the log doesn't begin with %q", begins)
	}
	if len(lines) < 2 || lines[len(lines)-1] != ends {
		return s, fmt.Errorf("the log is cut off: it doesn't end with %q", ends)
	}
	for i, line := range lines[1 : len(lines)-1] {
		if err := s.read(line); err != nil {
			return s, fmt.Errorf("line %d of the log, %.80q: %w", i+2, line, err)
		}
	}
	if s.Tool == "" {
		return s, errors.New("nvidia-smi said nothing in the log")
	}
	return s, nil
}

func (s *Sight) read(line string) error {
	if m := fileLine.FindStringSubmatch(line); m != nil {
		if s.Tool != "" {
			return errors.New("a device file after nvidia-smi")
		}
		s.Files = append(s.Files, m[1])
		return nil
	}
	if m := gpuLine.FindStringSubmatch(line); m != nil {
		return s.list(m[1])
	}
	if m := migLine.FindStringSubmatch(line); m != nil && s.Tool == toolLists {
		return s.list(m[1])
	}
	var tool string
	switch {
	case s.Tool == toolFailed: // it goes on about it
		tool = toolFailed
		line = s.ToolSays + " " + strings.TrimSpace(line)
	case s.Tool != "":
		return errors.New("more after nvidia-smi's last word")
	case absent.MatchString(line):
		tool = toolAbsent
	case none.MatchString(line):
		tool = toolNone
	case failed.MatchString(line):
		tool = toolFailed
	default:
		return errors.New("it is neither a device file nor of nvidia-smi -L")
	}
	s.Tool, s.ToolSays = tool, line
	return nil
}

func (s *Sight) list(uuid string) error {
	if s.Tool != "" && s.Tool != toolLists {
		return errors.New("a GPU after nvidia-smi's last word")
	}
	s.Tool = toolLists
	s.UUIDs = append(s.UUIDs, uuid)
	return nil
}
