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
	// Board is the board's identifier (PSID), "MT_0000000838"; empty where the driver
	// does not tell it.
	Board string       `json:"board,omitempty"`
	Ports []DevicePort `json:"ports"`
}

// DevicePort is one port of a device.
type DevicePort struct {
	Number int `json:"number"`
	// State is PORT_ACTIVE, PORT_DOWN, PORT_INIT, ...
	State string `json:"state"`
	// ActiveMTU is in bytes; 0 where the tool prints "invalid MTU".
	ActiveMTU int `json:"activeMTU"`
}

var (
	pair = regexp.MustCompile(`^([A-Za-z_]+):\s*(.*)$`)
	mtu  = regexp.MustCompile(`^(256|512|1024|2048|4096) \([1-5]\)$`)
)

// devPortKeys are required of every port; link_layer is the last one that is printed.
var devPortKeys = []string{"state", "active_mtu", "link_layer"}

// ParseDevInfo reads the whole output, with -v or without. A device that lacks a port, and a
// port that lacks one of portKeys, is an error: the output is cut short.
func ParseDevInfo(out []byte) ([]Device, error) {
	return guard.Parse("ibv_devinfo", func() ([]Device, error) { return parseDevInfo(out) })
}

func parseDevInfo(out []byte) ([]Device, error) {
	var r reader
	n := 0
	for raw := range strings.SplitSeq(string(out), "\n") {
		n++
		text := strings.TrimSpace(raw)
		if text == "" {
			continue
		}
		if err := r.line(text); err != nil {
			return nil, fmt.Errorf("read ibv_devinfo: line %d: %w", n, err)
		}
	}
	if err := r.endDevice(); err != nil {
		return nil, fmt.Errorf("read ibv_devinfo: %w", err)
	}
	if len(r.devices) == 0 {
		return nil, errors.New("read ibv_devinfo: no device; expected blocks that begin with hca_id")
	}
	return r.devices, nil
}

// reader holds the device that is being read, and what was seen of its last port.
type reader struct {
	devices []Device
	open    bool
	ports   int // that the device says it has
	seen    map[string]bool
}

func (r *reader) line(text string) error {
	g := pair.FindStringSubmatch(text)
	if g == nil {
		if r.open && strings.Contains(text, ":") {
			return nil // -v prints keys such as GID[  0]
		}
		return fmt.Errorf("%.80q: expected \"key: value\"", text)
	}
	key, value := g[1], g[2]
	if key == "hca_id" {
		if err := r.endDevice(); err != nil {
			return err
		}
		if slices.ContainsFunc(r.devices, func(d Device) bool { return d.Name == value }) {
			return fmt.Errorf("device %s is there twice", value)
		}
		r.devices = append(r.devices, Device{Name: value})
		r.open, r.ports, r.seen = true, 0, nil
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
			return fmt.Errorf("port number: %w", err)
		}
		d.Ports = append(d.Ports, DevicePort{Number: number})
		r.seen = map[string]bool{}
		return nil
	}
	if r.seen == nil {
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
			return fmt.Errorf("%.40q is no number of ports", value)
		}
		r.ports = n
	}
	return nil
}

func (r *reader) port(p *DevicePort, key, value string) (err error) {
	if r.seen[key] && slices.Contains(devPortKeys, key) {
		return fmt.Errorf("%s is there twice", key)
	}
	r.seen[key] = true
	switch key {
	case "state":
		p.State, _, _ = strings.Cut(value, " ")
	case "active_mtu":
		p.ActiveMTU, err = bytesOf(value)
	}
	return err
}

// bytesOf reads "4096 (5)"; what the library has no name for is 0.
func bytesOf(value string) (int, error) {
	if strings.HasPrefix(value, "invalid MTU") {
		return 0, nil
	}
	g := mtu.FindStringSubmatch(value)
	if g == nil {
		return 0, fmt.Errorf("%.40q is no MTU", value)
	}
	return strconv.Atoi(g[1])
}

func (r *reader) endPort() error {
	if r.seen == nil {
		return nil
	}
	for _, key := range devPortKeys {
		if !r.seen[key] {
			d := r.devices[len(r.devices)-1]
			return fmt.Errorf("port %d of %s has no %s: the output is cut short", d.Ports[len(d.Ports)-1].Number, d.Name, key)
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
		return fmt.Errorf("device %s has %d ports and shows %d: the output is cut short", d.Name, r.ports, len(d.Ports))
	}
	return nil
}
