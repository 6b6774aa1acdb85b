package linuxhost

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

var (
	clock   = regexp.MustCompile(`^(\d{1,12})\.(\d{9})$`)
	meminfo = regexp.MustCompile(`^(\w+):\s+(\d{1,18})(?: kB)?$`)
	speed   = regexp.MustCompile(`^(\d{1,4}(?:\.\d{1,3})?) GT/s`)
)

// Parse parses the output of Command. A missing section is an error.
func Parse(data []byte) (Host, error) {
	return guard.Parse("host state", func() (Host, error) { return parse(data) })
}

func parse(data []byte) (Host, error) {
	if !utf8.Valid(data) {
		return Host{}, errors.New("read host state: the output is not UTF-8 text")
	}
	sections, err := split(string(data))
	if err != nil {
		return Host{}, err
	}
	h := Host{Name: strings.TrimSpace(sections[sectionName])}
	if h.Clock, err = moment(sections[sectionClock]); err != nil {
		return Host{}, err
	}
	if h.ClockAfter, err = moment(sections[sectionAfter]); err != nil {
		return Host{}, err
	}
	for line := range strings.Lines(sections[sectionFiles]) {
		if h.gpuGroup(strings.TrimSpace(line)) {
			continue
		}
		file, text, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			return Host{}, fmt.Errorf("read host files: %.80q: expected \"/proc/meminfo:MemTotal: ...\"", line)
		}
		if err := h.file(file, strings.TrimSpace(text)); err != nil {
			return Host{}, err
		}
	}
	if gpus, err := nvidia.ParseTopology([]byte(sections[sectionTopology])); err == nil {
		h.GPUs = gpus // without a matrix GPUs is empty, and the judge reports the missing GPUs
	}
	return h, nil
}

// moment parses date +%s.%N; zero if date does not support %N.
func moment(text string) (time.Time, error) {
	m := clock.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return time.Time{}, nil
	}
	seconds, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("read host clock: %w", err)
	}
	nanoseconds, err := strconv.ParseInt(m[2], 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("read host clock: %w", err)
	}
	return time.Unix(seconds, nanoseconds).UTC(), nil
}

// split splits the output at the section headers, which must be present in order.
func split(text string) (map[string]string, error) {
	names := []string{sectionClock, sectionName, sectionFiles, sectionTopology, sectionAfter}
	out := map[string]string{}
	next := 0
	var body strings.Builder
	for line := range strings.Lines(text) {
		if next < len(names) && strings.TrimSpace(line) == names[next] {
			if next > 0 {
				out[names[next-1]] = body.String()
			}
			body.Reset()
			next++
			continue
		}
		body.WriteString(line)
	}
	if next < len(names) {
		return nil, fmt.Errorf("read host state: missing section %s", names[next])
	}
	out[names[next-1]] = body.String()
	return out, nil
}

// file parses one line of a file.
func (h *Host) file(name, text string) error {
	switch {
	case name == "/proc/meminfo":
		return h.meminfo(text)
	case name == "/proc/cpuinfo":
		h.Virtual = h.Virtual || text == hypervisor
		if text != hypervisor {
			h.Processor = text
		}
		return nil
	case path.Base(name) == "scaling_governor":
		if h.Governors == nil {
			h.Governors = map[string]int{}
		}
		h.Governors[text]++
		return nil
	case strings.HasPrefix(name, "/sys/class/infiniband/"):
		adapter := strings.Split(name, "/")[4]
		if strings.HasSuffix(name, groupType) {
			h.group(adapter, text)
			return nil
		}
		return h.link(adapter, path.Base(name), text)
	default:
		return fmt.Errorf("read host files: %.80q is not a requested file", name)
	}
}

// groupType is the file with the type of a device's IOMMU group (since Linux 4.19).
const groupType = "/iommu_group/type"

// gpuGroup parses the line of a GPU's IOMMU group, whose path has colons. It reports whether the line is one.
func (h *Host) gpuGroup(line string) bool {
	rest, ok := strings.CutPrefix(line, gpuDevices)
	if !ok {
		return false
	}
	device, text, ok := strings.Cut(rest, groupType+":")
	if ok {
		h.group(device, text)
	}
	return ok
}

func (h *Host) group(device, text string) {
	if h.IOMMU == nil {
		h.IOMMU = map[string]string{}
	}
	h.IOMMU[device] = text
}

func (h *Host) meminfo(text string) error {
	m := meminfo.FindStringSubmatch(text)
	if m == nil {
		return nil // a name with parentheses: not needed
	}
	n, err := strconv.ParseInt(m[2], 10, 64)
	if err != nil {
		return fmt.Errorf("read /proc/meminfo: %.80q: %w", text, err)
	}
	switch m[1] {
	case "MemTotal":
		h.MemoryKiB = &n
	case "HugePages_Total":
		h.HugePages = &n
	case "HugePages_Surp": // after HugePages_Total, which includes them
		if h.HugePages != nil {
			*h.HugePages -= n
		}
	case "Hugepagesize":
		h.HugePageKiB = &n
	}
	return nil
}

// unknownWidths are the values that the kernel prints for an unknown width.
var unknownWidths = []int64{0, 63, 255}

func (h *Host) link(adapter, file, text string) error {
	if h.Adapters == nil {
		h.Adapters = map[string]Link{}
	}
	l := h.Adapters[adapter]
	switch file {
	case "current_link_speed", "max_link_speed":
		m := speed.FindStringSubmatch(text)
		if m == nil {
			break // "Unknown"
		}
		rate, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return fmt.Errorf("read %s of %.40s: %w", file, adapter, err)
		}
		if file == "max_link_speed" {
			l.MaxSpeedGTs = &rate
		} else {
			l.SpeedGTs = &rate
		}
	case "current_link_width", "max_link_width":
		lanes, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("read %s of %.40s: %.40q: expected a number of lanes", file, adapter, text)
		}
		if slices.Contains(unknownWidths, lanes) {
			break
		}
		if file == "max_link_width" {
			l.MaxWidth = &lanes
		} else {
			l.Width = &lanes
		}
	}
	h.Adapters[adapter] = l
	return nil
}
