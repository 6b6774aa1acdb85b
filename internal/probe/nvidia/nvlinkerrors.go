package nvidia

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// NVLinkErrors are the error counters of the NVLinks of one GPU in the output of nvidia-smi
// nvlink -e, counted since the driver was loaded.
type NVLinkErrors struct {
	Index int          `json:"index"`
	UUID  string       `json:"uuid"`
	Links []LinkErrors `json:"links"`
}

// LinkErrors are the counters of one link by printed name: "Replay Errors", "Recovery
// Errors", "CRC Errors"; newer generations have others: "Rx Errors", "Link recovery failed events".
// Counters printed as N/A are omitted.
type LinkErrors struct {
	Number   int              `json:"number"`
	Counters map[string]int64 `json:"counters"`
}

var linkCounter = regexp.MustCompile(`^Link (\d{1,3}): ([A-Za-z][A-Za-z0-9 ()-]{0,60}): (.*)$`)

// maxCounters is the most counters of one link.
const maxCounters = 64

// ParseNVLinkErrors parses the output of nvidia-smi nvlink -e. It ignores the other counters
// of newer generations: traffic, error rates, and "FEC Errors - 0" to 15, which count blocks
// by the number of corrected bits.
func ParseNVLinkErrors(data []byte) ([]NVLinkErrors, error) {
	return guard.Parse("nvidia-smi nvlink -e", func() ([]NVLinkErrors, error) { return parseNVLinkErrors(data) })
}

func parseNVLinkErrors(data []byte) (out []NVLinkErrors, err error) {
	err = eachLine("nvidia-smi nvlink -e", data, func(line string) (err error) {
		out, err = addLinkErrors(out, line)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, errors.New("read nvidia-smi nvlink -e: no GPU in the output; expected \"GPU 0: ... (UUID: GPU-...)\"")
	}
	return out, nil
}

func addLinkErrors(gpus []NVLinkErrors, line string) ([]NVLinkErrors, error) {
	if m := linkGPU.FindStringSubmatch(line); m != nil {
		index, err := strconv.Atoi(m[1])
		if err != nil {
			return gpus, fmt.Errorf("invalid GPU index %q", m[1])
		}
		return append(gpus, NVLinkErrors{Index: index, UUID: m[2]}), nil
	}
	if len(gpus) == 0 {
		return gpus, fmt.Errorf("%.80q: expected \"GPU 0: ... (UUID: GPU-...)\"", line)
	}
	if linksNone.MatchString(line) || noLinks.MatchString(line) || linkDown.MatchString(line) {
		return gpus, nil // a link that is down has no counters
	}
	m := linkCounter.FindStringSubmatch(line)
	if m == nil {
		return gpus, fmt.Errorf("%.80q: expected \"Link 0: Replay Errors: 0\"", line)
	}
	if !strings.HasSuffix(m[2], "Errors") && !strings.HasSuffix(m[2], "events") || absent(m[3]) {
		return gpus, nil
	}
	count, err := strconv.ParseInt(m[3], 10, 64)
	if err != nil || count < 0 {
		return gpus, fmt.Errorf("%.80q: expected an error count", line)
	}
	return gpus, gpus[len(gpus)-1].count(m[1], m[2], count)
}

// count adds a counter to its link; the counters of one link are consecutive.
func (g *NVLinkErrors) count(link, name string, count int64) error {
	number, err := strconv.Atoi(link)
	if err != nil {
		return fmt.Errorf("invalid link number %q", link)
	}
	if last := len(g.Links) - 1; last < 0 || g.Links[last].Number != number {
		if len(g.Links) >= maxLinkCount {
			return fmt.Errorf("GPU %d has more than %d links", g.Index, maxLinkCount)
		}
		g.Links = append(g.Links, LinkErrors{Number: number, Counters: map[string]int64{}})
	}
	counters := g.Links[len(g.Links)-1].Counters
	if _, duplicate := counters[name]; duplicate || len(counters) >= maxCounters {
		return fmt.Errorf("link %d of GPU %d: duplicate counter %s, or more than 64 counters", number, g.Index, name)
	}
	counters[name] = count
	return nil
}
