package nvidia

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Discovery is the version of dcgmi and what its host engine finds.
type Discovery struct {
	Version string
	// Major is the first number of Version.
	Major int
	// GPUs is the number of GPUs that the host engine manages, without detached ones.
	GPUs int
}

// DiscoveryCommand prints the version of dcgmi and lists the GPUs of the host engine. It loads no
// GPU. ParseDiscovery reads its output.
func DiscoveryCommand() []string { return []string{"sh", "-c", "dcgmi --version; dcgmi discovery -l"} }

var (
	dcgmVersion = regexp.MustCompile(`(?m)^\s*dcgmi\s+version:\s*((\d{1,4})\.\S{1,40})\s*$`)
	dcgmGPUs    = regexp.MustCompile(`(?m)^\s*(\d{1,4}) GPUs? found(?: \((\w{1,40})\))?\.`) // DCGM 4.5 and later: "(Active)"
)

// ParseDiscovery parses the output of DiscoveryCommand. Without a number of GPUs, the error has
// dcgmi's own message.
func ParseDiscovery(data []byte) (Discovery, error) {
	return guard.Parse("dcgmi discovery", func() (Discovery, error) { return parseDiscovery(data) })
}

func parseDiscovery(data []byte) (Discovery, error) {
	if !utf8.Valid(data) {
		return Discovery{}, fmt.Errorf("read dcgmi discovery: %w", errNotText)
	}
	version := dcgmVersion.FindSubmatch(data)
	if version == nil {
		return Discovery{}, errors.New("read dcgmi discovery: the output has no version of dcgmi")
	}
	d := Discovery{Version: string(version[1])}
	var err error
	if d.Major, err = strconv.Atoi(string(version[2])); err != nil {
		return Discovery{}, fmt.Errorf("read dcgmi discovery: version %q: %w", d.Version, err)
	}
	lists := dcgmGPUs.FindAllSubmatch(data, -1)
	if len(lists) == 0 {
		return Discovery{}, errors.New("dcgmi discovery lists no GPUs: " + dcgmMessage(string(data)))
	}
	for _, found := range lists {
		if state := string(found[2]); state != "" && state != "Active" {
			continue
		}
		if d.GPUs, err = strconv.Atoi(string(found[1])); err != nil {
			return Discovery{}, fmt.Errorf("read dcgmi discovery: %w", err)
		}
		return d, nil
	}
	return Discovery{}, fmt.Errorf("dcgmi discovery lists no active GPUs: %.80q", lists[0][0])
}

// dcgmMessage is the last error line of dcgmi, which has the cause.
func dcgmMessage(text string) string {
	message := "it printed no error"
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "Error:") {
			message = clip(line, maxDiagText)
		}
	}
	return message
}
