package infiniband

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// DevStateActive is the state of a port that carries traffic.
const DevStateActive = "PORT_ACTIVE"

// Device is one RDMA device.
type Device struct {
	Name string `json:"name"`
	// Board is the board ID (PSID), "MT_0000000838"; empty if the driver does not report it.
	Board string       `json:"board,omitempty"`
	Ports []DevicePort `json:"ports"`
}

// DevicePort is one port of a device.
type DevicePort struct {
	Number int `json:"number"`
	// State is PORT_ACTIVE, PORT_DOWN, PORT_INIT, ...
	State string `json:"state"`
	// ActiveMTU is in bytes; 0 if ibv_devinfo prints "invalid MTU".
	ActiveMTU int `json:"activeMTU"`
}

var (
	pair = regexp.MustCompile(`^([A-Za-z_]+):\s*(.*)$`)
	mtu  = regexp.MustCompile(`^(256|512|1024|2048|4096) \([1-5]\)$`)
)

// devPortKeys are required for every port; link_layer is the last key of a port.
var devPortKeys = []string{"state", "active_mtu", "link_layer"}

// ParseDevInfo parses the output of ibv_devinfo, with or without -v. A missing port or a
// missing key of a port is an error: the output is truncated.
func ParseDevInfo(out []byte) ([]Device, error) {
	return guard.Parse("ibv_devinfo", func() ([]Device, error) { return parseDevInfo(out) })
}

func parseDevInfo(out []byte) ([]Device, error) {
	var r reader
	if err := eachLine("ibv_devinfo", out, r.line); err != nil {
		return nil, err
	}
	if err := r.endDevice(); err != nil {
		return nil, fmt.Errorf("read ibv_devinfo: %w", err)
	}
	if len(r.devices) == 0 {
		return nil, errors.New("read ibv_devinfo: no device; expected blocks that begin with hca_id")
	}
	return r.devices, nil
}

// reader is the state of the parser: the open device and the keys of its last port.
type reader struct {
	devices []Device
	open    bool
	ports   int // phys_port_cnt of the device
	keys    map[string]bool
}

func (r *reader) line(line string) error {
	text := strings.TrimSpace(line)
	g := pair.FindStringSubmatch(text)
	if g == nil {
		if r.open && (strings.Contains(text, ":") || text != line) {
			return nil // -v prints keys such as GID[  0], and capabilities as indented words: BAD_PKEY_CNTR
		}
		return fmt.Errorf("%.80q: expected \"key: value\"", text)
	}
	key, value := g[1], g[2]
	if key == "hca_id" {
		if err := r.endDevice(); err != nil {
			return err
		}
		if slices.ContainsFunc(r.devices, func(d Device) bool { return d.Name == value }) {
			return fmt.Errorf("duplicate device %s", value)
		}
		r.devices = append(r.devices, Device{Name: value})
		r.open, r.ports, r.keys = true, 0, nil
		return nil
	}
	if !r.open {
		return fmt.Errorf("%.80q: expected hca_id", text)
	}
	d := &r.devices[len(r.devices)-1]
	if key == "port" {
		if err := r.endPort(); err != nil {
			return err
		}
		number, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("invalid port number: %w", err)
		}
		d.Ports = append(d.Ports, DevicePort{Number: number})
		r.keys = map[string]bool{}
		return nil
	}
	if r.keys == nil {
		return r.device(d, key, value)
	}
	return r.port(&d.Ports[len(d.Ports)-1], key, value)
}

func (r *reader) device(d *Device, key, value string) error {
	switch key {
	case "board_id":
		d.Board = value
	case "phys_port_cnt":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("invalid number of ports %.40q: must be a positive integer", value)
		}
		r.ports = n
	}
	return nil
}

func (r *reader) port(p *DevicePort, key, value string) (err error) {
	if r.keys[key] && slices.Contains(devPortKeys, key) {
		return fmt.Errorf("duplicate key %s", key)
	}
	r.keys[key] = true
	switch key {
	case "state":
		p.State, _, _ = strings.Cut(value, " ")
	case "active_mtu":
		p.ActiveMTU, err = bytesOf(value)
	}
	return err
}

// bytesOf parses "4096 (5)"; 0 for a value that the library cannot name.
func bytesOf(value string) (int, error) {
	if strings.HasPrefix(value, "invalid MTU") {
		return 0, nil
	}
	g := mtu.FindStringSubmatch(value)
	if g == nil {
		return 0, fmt.Errorf("invalid MTU %.40q: want a value such as \"4096 (5)\"", value)
	}
	return strconv.Atoi(g[1])
}

func (r *reader) endPort() error {
	if r.keys == nil {
		return nil
	}
	for _, key := range devPortKeys {
		if !r.keys[key] {
			d := r.devices[len(r.devices)-1]
			return fmt.Errorf("port %d of %s has no %s: the output is truncated", d.Ports[len(d.Ports)-1].Number, d.Name, key)
		}
	}
	return nil
}

func (r *reader) endDevice() error {
	if !r.open {
		return nil
	}
	if err := r.endPort(); err != nil {
		return err
	}
	if d := r.devices[len(r.devices)-1]; len(d.Ports) != r.ports || r.ports == 0 {
		return fmt.Errorf("device %s has %d ports, the output lists %d: the output is truncated", d.Name, r.ports, len(d.Ports))
	}
	return nil
}
