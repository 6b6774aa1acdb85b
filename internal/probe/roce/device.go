package roce

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// SysfsRoot is the folder of RDMA devices.
const SysfsRoot = "/sys/class/infiniband/"

// The values of a port that carries RDMA over Ethernet.
const (
	StateActive    = "ACTIVE"
	PhysicalLinkUp = "LinkUp"
	Ethernet       = "Ethernet"
	V2             = "RoCE v2"
)

// Device is an RDMA device with its port 1. Attributes that the output lacks are empty, zero or nil.
type Device struct {
	Name     string `json:"name"`
	Type     string `json:"type,omitempty"`     // "MT4129"
	Firmware string `json:"firmware,omitempty"` // "28.39.1002"
	Board    string `json:"board,omitempty"`    // PSID
	// State is DOWN, INIT, ARMED or ACTIVE; Physical is LinkUp, Disabled, Polling, ...
	State     string  `json:"state,omitempty"`
	Physical  string  `json:"physical,omitempty"`
	RateGbps  float64 `json:"rateGbps,omitempty"`
	LinkLayer string  `json:"linkLayer,omitempty"`
	// Netdevs are the network devices of the adapter's PCI function, by name.
	Netdevs []string `json:"netdevs,omitempty"`
	GIDs    []GID    `json:"gids,omitempty"`
	// Notifies and Reacts tell, by priority, whether DCQCN's notification point answers marked
	// packets (ecn/roce_np) and its reaction point slows down (ecn/roce_rp). NVIDIA's drivers have
	// the files, the kernel's own do not.
	Notifies map[int]bool `json:"notifies,omitempty"`
	Reacts   map[int]bool `json:"reacts,omitempty"`
}

// GID is one entry of the port's GID table.
type GID struct {
	Index int `json:"index"`
	// Address is the GID as an IP address; that of IPv4 for a mapped one.
	Address string `json:"address,omitempty"`
	Type    string `json:"type,omitempty"`
	Netdev  string `json:"netdev,omitempty"`
}

// ParseDevices parses "PATH:VALUE" lines of files below SysfsRoot, as grep -H prints them. Another
// path is an error.
func ParseDevices(out []byte) ([]Device, error) {
	return guard.Parse("attributes of RDMA devices", func() ([]Device, error) { return parseDevices(out) })
}

func parseDevices(out []byte) ([]Device, error) {
	if !utf8.Valid(out) {
		return nil, errors.New("read attributes of RDMA devices: the output is not UTF-8 text")
	}
	devices := map[string]*table{}
	for line := range strings.Lines(string(out)) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		file, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		rest, inRoot := strings.CutPrefix(file, SysfsRoot)
		name, attribute, nested := strings.Cut(rest, "/")
		if !ok || !inRoot || !nested || name == "" {
			return nil, fmt.Errorf("read attributes of RDMA devices: %.80q: expected %sDEVICE/...:VALUE", line, SysfsRoot)
		}
		if devices[name] == nil {
			devices[name] = &table{device: Device{Name: name}, gids: map[int]*GID{}}
		}
		if err := devices[name].set(attribute, strings.TrimSpace(value)); err != nil {
			return nil, fmt.Errorf("read attributes of RDMA devices: %s: %w", file, err)
		}
	}
	if len(devices) == 0 {
		return nil, errors.New("read attributes of RDMA devices: no device: " + SysfsRoot + " has none of these names")
	}
	var all []Device
	for _, t := range devices {
		all = append(all, t.finished())
	}
	slices.SortFunc(all, func(a, b Device) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// table is a device with its GID table, by index.
type table struct {
	device Device
	gids   map[int]*GID
}

// finished is the device with its GIDs in order. An entry without an address is unset.
func (t *table) finished() Device {
	for _, g := range t.gids {
		if g.Address != "" {
			t.device.GIDs = append(t.device.GIDs, *g)
		}
	}
	slices.SortFunc(t.device.GIDs, func(a, b GID) int { return a.Index - b.Index })
	slices.Sort(t.device.Netdevs)
	return t.device
}

var (
	numbered = regexp.MustCompile(`^\d+: (\S.*)$`)                  // "4: ACTIVE"
	rate     = regexp.MustCompile(`^(\d{1,5}(?:\.\d+)?) Gb/sec\b`)  // "400 Gb/sec (4X NDR)"
	netdev   = regexp.MustCompile(`^device/net/([^/]+)/operstate$`) // of each network device
	ecn      = regexp.MustCompile(`^device/net/[^/]+/ecn/roce_(np|rp)/enable/([0-7])$`)
	gid      = regexp.MustCompile(`^ports/1/(gids|gid_attrs/types|gid_attrs/ndevs)/(\d{1,4})$`)
)

func (t *table) set(attribute, value string) (err error) {
	d := &t.device
	switch attribute {
	case "hca_type":
		d.Type = value
	case "fw_ver":
		d.Firmware = value
	case "board_id":
		d.Board = value
	case "ports/1/link_layer":
		d.LinkLayer = value
	case "ports/1/state":
		d.State, err = named(value)
	case "ports/1/phys_state":
		d.Physical, err = named(value)
	case "ports/1/rate":
		g := rate.FindStringSubmatch(value)
		if g == nil {
			return fmt.Errorf("invalid rate %.40q: must be such as \"400 Gb/sec (4X NDR)\"", value)
		}
		d.RateGbps, err = strconv.ParseFloat(g[1], 64)
	default:
		return t.nested(attribute, value)
	}
	return err
}

func (t *table) nested(attribute, value string) error {
	if g := netdev.FindStringSubmatch(attribute); g != nil {
		t.device.Netdevs = append(t.device.Netdevs, g[1])
		return nil
	}
	if g := ecn.FindStringSubmatch(attribute); g != nil {
		return t.ecn(g[1], g[2], value)
	}
	g := gid.FindStringSubmatch(attribute)
	if g == nil {
		return errors.New("not a requested file")
	}
	index, err := strconv.Atoi(g[2])
	if err != nil {
		return fmt.Errorf("invalid index: %w", err)
	}
	if t.gids[index] == nil {
		t.gids[index] = &GID{Index: index}
	}
	switch g[1] {
	case "gids":
		address, err := netip.ParseAddr(value)
		if err != nil {
			return fmt.Errorf("invalid GID: %w", err)
		}
		t.gids[index].Address = address.Unmap().String()
	case "gid_attrs/types":
		t.gids[index].Type = value
	default:
		t.gids[index].Netdev = value
	}
	return nil
}

func (t *table) ecn(point, priority, value string) error {
	if value != "0" && value != "1" {
		return fmt.Errorf("invalid value %.40q: must be 0 or 1", value)
	}
	of := &t.device.Reacts
	if point == "np" {
		of = &t.device.Notifies
	}
	if *of == nil {
		*of = map[int]bool{}
	}
	(*of)[int(priority[0]-'0')] = value == "1"
	return nil
}

// named is the name of "4: ACTIVE".
func named(value string) (string, error) {
	g := numbered.FindStringSubmatch(value)
	if g == nil {
		return "", fmt.Errorf("invalid state %.40q: must be such as \"4: ACTIVE\"", value)
	}
	return g[1], nil
}
