package roce

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// statistic is a line of ethtool -S. A driver's name may end in spaces.
var statistic = regexp.MustCompile(`^\s+(\S.*?)\s*: (\d{1,20})$`)

// ParseCounters parses sections of "=DEVICE=" lines, each with the output of ethtool -S of its
// network device and its hw_counters as grep -H prints them: counters by device and name. A section
// may have none.
func ParseCounters(out []byte) (map[string]map[string]uint64, error) {
	return guard.Parse("counters of RDMA devices", func() (map[string]map[string]uint64, error) { return parseCounters(out) })
}

func parseCounters(out []byte) (map[string]map[string]uint64, error) {
	all := map[string]map[string]uint64{}
	err := eachSection(out, func(device, body string) error {
		counters := map[string]uint64{}
		for line := range strings.Lines(body) {
			name, value, err := counter(strings.TrimRight(line, "\r\n"))
			if err != nil {
				return err
			}
			if name == "" {
				continue
			}
			if _, twice := counters[name]; twice {
				return fmt.Errorf("duplicate counter %s", name)
			}
			counters[name] = value
		}
		all[device] = counters
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read counters of RDMA devices: %w", err)
	}
	return all, nil
}

// counter reads one line; a heading has no name.
func counter(line string) (name string, value uint64, err error) {
	if file, text, ok := strings.Cut(line, ":"); ok && strings.HasPrefix(line, SysfsRoot) {
		value, err = strconv.ParseUint(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return "", 0, fmt.Errorf("invalid counter %.80q: must be a number", line)
		}
		return path.Base(file), value, nil
	}
	if text := strings.TrimSpace(line); text == "" || text == "NIC statistics:" {
		return "", 0, nil
	}
	g := statistic.FindStringSubmatch(line)
	if g == nil {
		return "", 0, fmt.Errorf("%.80q: expected \"name: number\" of ethtool -S", line)
	}
	if value, err = strconv.ParseUint(g[2], 10, 64); err != nil {
		return "", 0, fmt.Errorf("counter %s: %w", g[1], err)
	}
	return g[1], value, nil
}

var heading = regexp.MustCompile(`^=([A-Za-z0-9_.:-]+)=$`)

// Heading is the line before the output of a device's command.
func Heading(device string) string { return "=" + device + "=" }

// eachSection calls read for each section of the output, which begins with a heading.
func eachSection(out []byte, read func(device, body string) error) error {
	device, known := "", map[string]bool{}
	var body strings.Builder
	end := func() error {
		if device == "" {
			return nil
		}
		if err := read(device, body.String()); err != nil {
			return fmt.Errorf("%s: %w", device, err)
		}
		return nil
	}
	for line := range strings.Lines(string(out)) {
		g := heading.FindStringSubmatch(strings.TrimSpace(line))
		switch {
		case g != nil && known[g[1]]:
			return fmt.Errorf("duplicate section of %s", g[1])
		case g != nil:
			if err := end(); err != nil {
				return err
			}
			device = g[1]
			known[device] = true
			body.Reset()
		case device != "":
			body.WriteString(line)
		case strings.TrimSpace(line) != "":
			return fmt.Errorf("%.80q: expected a heading such as =mlx5_0=", line)
		}
	}
	if device == "" {
		return errors.New("no section")
	}
	return end()
}
