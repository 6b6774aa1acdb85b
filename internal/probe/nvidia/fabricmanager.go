package nvidia

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// FabricManager is what a host shows of the fabric manager of its NVSwitches.
type FabricManager struct {
	// Unit is the state of the unit nvidia-fabricmanager.service; nil without systemd.
	Unit *Unit `json:"unit,omitempty"`
	// Processes is the number of its processes, those of containers included; nil where the user
	// does not see the processes of others, or all those of the host.
	Processes *int `json:"processes,omitempty"`
	// Version is that of the program on the host; empty without the program.
	Version string `json:"version,omitempty"`
}

// Unit is the state of a systemd unit.
type Unit struct {
	Load   string `json:"load"`   // "loaded", "not-found", "masked"
	Active string `json:"active"` // "active", "inactive", "failed", "activating"
	Sub    string `json:"sub"`    // "running", "dead", "auto-restart"
}

// The section headers in the output of FabricManagerCommand.
const (
	sectionUnit      = "=unit="
	sectionProcesses = "=processes="
	sectionVersion   = "=version="
)

// The kernel cuts the name of a process to 15 characters.
const managerProcess = "nv-fabricmanage"

// managerScript reads only. The version is last: nv-fabricmanager 610 prints no newline at its end.
// Process 1 belongs to root: where its name cannot be read, /proc hides the processes of others. A login
// that ends in a container sees those of its PID namespace.
const managerScript = "echo " + sectionUnit + "; systemctl show nvidia-fabricmanager.service -p LoadState -p ActiveState -p SubState" +
	"; echo " + sectionProcesses + "; readlink /proc/self/ns/pid; grep -Hs . /proc/1/comm; grep -Hsx " + managerProcess + " /proc/[0-9]*/comm" +
	"; echo " + sectionVersion + "; nv-fabricmanager --version"

// FabricManagerCommand is the command whose output ParseFabricManager parses. It needs no root.
func FabricManagerCommand() []string { return []string{"sh", "-c", managerScript} }

// ParseFabricManager parses the output of FabricManagerCommand. A missing section is an error.
func ParseFabricManager(data []byte) (FabricManager, error) {
	return guard.Parse("fabric manager", func() (FabricManager, error) { return parseFabricManager(data) })
}

func parseFabricManager(data []byte) (m FabricManager, err error) {
	if !utf8.Valid(data) {
		return m, fmt.Errorf("read fabric manager: %w", errNotText)
	}
	_, rest, ok := strings.Cut(string(data), sectionUnit+"\n")
	unit, rest, ok2 := strings.Cut(rest, sectionProcesses+"\n")
	processes, version, ok3 := strings.Cut(rest, sectionVersion+"\n")
	if !ok || !ok2 || !ok3 {
		return m, fmt.Errorf("read fabric manager: want the sections %s, %s and %s", sectionUnit, sectionProcesses, sectionVersion)
	}
	if m.Unit, err = parseUnit(unit); err != nil {
		return FabricManager{}, err
	}
	if m.Processes, err = countManagers(processes); err != nil {
		return FabricManager{}, err
	}
	m.Version, err = managerVersion(version)
	return m, err
}

// parseUnit parses systemctl show; nil for no output, which is that of a host without systemd.
func parseUnit(text string) (*Unit, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil // no unit is a state, not an error
	}
	var u Unit
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "LoadState":
			u.Load = value
		case "ActiveState":
			u.Active = value
		case "SubState":
			u.Sub = value
		default:
			return nil, fmt.Errorf("read systemctl show: %.80q: expected LoadState, ActiveState or SubState", line)
		}
	}
	if u.Load == "" || u.Active == "" || u.Sub == "" {
		return nil, errors.New("read systemctl show: LoadState, ActiveState or SubState is missing")
	}
	return &u, nil
}

// hostPIDs is the PID namespace of a host: PROC_PID_INIT_INO in the kernel's proc_ns.h.
const hostPIDs = "pid:[4026531836]"

// countManagers counts the processes of the manager; nil where a part of the host's are not seen.
func countManagers(text string) (*int, error) {
	count, all, onHost := 0, false, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch file, name, ok := strings.Cut(line, ":"); {
		case file == "pid":
			onHost = line == hostPIDs
		case !ok || !strings.HasPrefix(file, "/proc/"):
			return nil, fmt.Errorf("read process names: %.80q: expected \"/proc/1/comm:NAME\"", line)
		case name == managerProcess:
			count++
		case file == "/proc/1/comm":
			all = true
		}
	}
	if count == 0 && (!all || !onHost) {
		return nil, nil // hidden is a state, not an error
	}
	return &count, nil
}

var managerVersionLine = regexp.MustCompile(`(?m)^\s*Fabric Manager version is : (\d[\w.]{0,40})\s*$`)

// managerVersion parses nv-fabricmanager --version; "" for no output: the shell's error is on stderr.
func managerVersion(text string) (string, error) {
	if m := managerVersionLine.FindStringSubmatch(text); m != nil {
		return m[1], nil
	}
	if text = strings.TrimSpace(text); text != "" {
		return "", fmt.Errorf("read nv-fabricmanager --version: %.80q: expected \"Fabric Manager version is : 580.159.03\"", text)
	}
	return "", nil
}
