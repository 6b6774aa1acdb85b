package nvidia

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// NVLinks are the links of one GPU in the output of nvidia-smi nvlink -s.
type NVLinks struct {
	Index int      `json:"index"`
	UUID  string   `json:"uuid"`
	Links []NVLink `json:"links"`
	// AllInactive: the driver reports no active link of this GPU.
	AllInactive bool `json:"allInactive,omitempty"`
}

// NVLink is one link of a GPU.
type NVLink struct {
	Number int     `json:"number"`
	Active bool    `json:"active"`
	GBps   float64 `json:"gbps,omitempty"`
}

var (
	linkGPU   = regexp.MustCompile(`^GPU (\d{1,4}): .*\(UUID: (GPU-[0-9A-Fa-f-]+)\)(?:\s+(.*))?$`)
	linkUp    = regexp.MustCompile(`^Link (\d{1,3}): ([0-9.]+) GB/s$`)
	linkDown  = regexp.MustCompile(`(?i)^Link (\d{1,3}): <?(inactive|disabled)>?$`)
	noLinks   = regexp.MustCompile(`(?i)^device does not have or support NVLink\.?$`)
	linksNone = regexp.MustCompile(`(?i)unable to retrieve NVLink information as all links are inactive`)
)

const (
	maxLinkLine  = 64 << 10
	maxLinkCount = 1 << 10
)

// ParseNVLinks parses the output of nvidia-smi nvlink -s.
func ParseNVLinks(data []byte) ([]NVLinks, error) {
	return guard.Parse("nvidia-smi nvlink", func() ([]NVLinks, error) { return parseNVLinks(data) })
}

func parseNVLinks(data []byte) (out []NVLinks, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("read nvidia-smi nvlink: no output; expected \"GPU 0: ... (UUID: GPU-...)\" and its links")
	}
	err = eachLine("nvidia-smi nvlink", data, func(line string) (err error) {
		out, err = addLink(out, line)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, errors.New("read nvidia-smi nvlink: no GPU in the output")
	}
	return out, nil
}

func addLink(gpus []NVLinks, line string) ([]NVLinks, error) {
	if m := linkGPU.FindStringSubmatch(line); m != nil {
		index, err := strconv.Atoi(m[1])
		if err != nil {
			return gpus, fmt.Errorf("invalid GPU index %q", m[1])
		}
		gpus = append(gpus, NVLinks{Index: index, UUID: m[2]})
		if m[3] == "" {
			return gpus, nil
		}
		line = m[3] // some releases print the reason for missing links on the same line
	}
	if len(gpus) == 0 {
		return gpus, fmt.Errorf("%.80q: expected \"GPU 0: ... (UUID: GPU-...)\"", line)
	}
	g := &gpus[len(gpus)-1]
	if linksNone.MatchString(line) {
		g.AllInactive = true
		return gpus, nil
	}
	if noLinks.MatchString(line) {
		return gpus, nil
	}
	var link NVLink
	var number string
	if m := linkUp.FindStringSubmatch(line); m != nil {
		rate, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return gpus, fmt.Errorf("invalid rate %q", m[2])
		}
		number, link = m[1], NVLink{Active: true, GBps: rate}
	} else if m := linkDown.FindStringSubmatch(line); m != nil {
		number = m[1]
	} else {
		return gpus, fmt.Errorf("%.80q: expected \"Link 0: 26.562 GB/s\" or \"Link 0: <inactive>\"", line)
	}
	n, err := strconv.Atoi(number)
	if err != nil || len(g.Links) >= maxLinkCount {
		return gpus, fmt.Errorf("%.80q: more than %d links", line, maxLinkCount)
	}
	link.Number = n
	for _, other := range g.Links {
		if other.Number == n {
			return gpus, fmt.Errorf("duplicate link %d of GPU %d", n, g.Index)
		}
	}
	g.Links = append(g.Links, link)
	return gpus, nil
}
