package sandbox

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
)

// The lines between which a container says which kernel it runs on: a log without them
// is cut.
const (
	begins = "firstlight-kernel begins"
	ends   = "firstlight-kernel ends"
)

// script says which kernel a container runs on: its version, and the ID that it gave
// itself at boot, which no namespace hides.
const script = `exec 2>&1
echo ` + begins + `
cat /proc/version
cat /proc/sys/kernel/random/boot_id
echo ` + ends + `
` + trial.Sleep

// kernel is what a container says of its kernel.
type kernel struct {
	Version string `json:"version"`
	// Boot is the ID of its boot; empty where there is none.
	Boot string `json:"boot,omitempty"`
}

var bootID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// parse reads what the script wrote. A log that is empty or cut, or that does not say a
// version, is an error: it says nothing of the kernel.
func parse(log []byte) (kernel, error) {
	var k kernel
	lines := strings.Split(string(log), "\n")
	if len(lines) < 4 || lines[0] != begins || lines[len(lines)-2] != ends || lines[len(lines)-1] != "" {
		return k, fmt.Errorf("the log is not whole: it does not begin with %q and end with %q", begins, ends)
	}
	for _, line := range lines[1 : len(lines)-2] {
		switch {
		case strings.HasPrefix(line, "Linux version ") && k.Version == "":
			k.Version = line
		case bootID.MatchString(line) && k.Boot == "":
			k.Boot = line
		}
	}
	if k.Version == "" {
		return k, errors.New("the log does not say which version of Linux it is")
	}
	return k, nil
}

// other says that two kernels are not the same: their versions differ, or their boots.
func (k kernel) other(than kernel) bool {
	return k.Version != than.Version || k.Boot != "" && than.Boot != "" && k.Boot != than.Boot
}
