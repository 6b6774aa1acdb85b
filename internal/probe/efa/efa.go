// Package efa parses what hosts with Elastic Fabric Adapters print: attributes and counters of RDMA
// devices in sysfs, and fi_info of libfabric.
package efa

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// SysfsRoot is the folder of RDMA devices.
const SysfsRoot = "/sys/class/infiniband/"

// The values of a device that carries traffic.
const (
	StateActive = "ACTIVE"
	Provider    = "efa"
	Reliable    = "FI_EP_RDM" // reliable datagrams
	Protocol    = "FI_PROTO_EFA"
)

// Device is an adapter with its port 1. It has no firmware: the driver has no get_dev_fw_str (efa_dev_ops in
// amzn-drivers, efa_main.c), so fw_ver in sysfs is an empty line.
type Device struct {
	Name  string `json:"name"`            // "rdmap79s0"
	State string `json:"state,omitempty"` // DOWN, INIT, ACTIVE
}

var numbered = regexp.MustCompile(`^\d+: (\S.*)$`) // "4: ACTIVE"

// ParseDevices parses "PATH:VALUE" lines of ports/1/state of devices, as grep -H prints them.
func ParseDevices(out []byte) ([]Device, error) {
	return guard.Parse("attributes of EFA devices", func() ([]Device, error) {
		devices := map[string]*Device{}
		err := eachFile(out, func(name, attribute, value string) error {
			if devices[name] == nil {
				devices[name] = &Device{Name: name}
			}
			if attribute != "ports/1/state" {
				return errors.New("not a requested file")
			}
			g := numbered.FindStringSubmatch(value)
			if g == nil {
				return fmt.Errorf("invalid state %.40q: must be such as \"4: ACTIVE\"", value)
			}
			devices[name].State = g[1]
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read attributes of EFA devices: %w", err)
		}
		var all []Device
		for _, name := range slices.Sorted(maps.Keys(devices)) {
			all = append(all, *devices[name])
		}
		return all, nil
	})
}

// ParseCounters parses "PATH:VALUE" lines of ports/1/hw_counters: counters by device and name.
func ParseCounters(out []byte) (map[string]map[string]uint64, error) {
	return guard.Parse("counters of EFA devices", func() (map[string]map[string]uint64, error) {
		all := map[string]map[string]uint64{}
		err := eachFile(out, func(device, attribute, value string) error {
			name, ok := strings.CutPrefix(attribute, "ports/1/hw_counters/")
			if !ok || name == "" {
				return errors.New("not a requested file")
			}
			n, err := strconv.ParseUint(value, 10, 64)
			if err != nil {
				return fmt.Errorf("invalid counter: %w", err)
			}
			if all[device] == nil {
				all[device] = map[string]uint64{}
			}
			all[device][name] = n
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read counters of EFA devices: %w", err)
		}
		return all, nil
	})
}

// eachFile calls read for each line. No line is an error.
func eachFile(out []byte, read func(device, attribute, value string) error) error {
	found := false
	for line := range strings.Lines(string(out)) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		file, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		rest, inRoot := strings.CutPrefix(file, SysfsRoot)
		device, attribute, nested := strings.Cut(rest, "/")
		if !ok || !inRoot || !nested || device == "" {
			return fmt.Errorf("%.80q: expected %sDEVICE/...:VALUE", line, SysfsRoot)
		}
		if err := read(device, attribute, strings.TrimSpace(value)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		found = true
	}
	if !found {
		return errors.New("no device in " + SysfsRoot)
	}
	return nil
}

// Endpoint is one entry of fi_info.
type Endpoint struct {
	Provider string `json:"provider"`
	Fabric   string `json:"fabric"` // "efa", "efa-direct"; before libfabric 1.19 one for each device
	Domain   string `json:"domain"` // "rdmap79s0-rdm"
	Version  string `json:"version"`
	Type     string `json:"type"`
	Protocol string `json:"protocol"`
}

// ParseEndpoints parses the output of fi_info. An entry that lacks a key is an error: the output is
// truncated.
func ParseEndpoints(out []byte) ([]Endpoint, error) {
	return guard.Parse("fi_info", func() ([]Endpoint, error) { return parseEndpoints(out) })
}

var endpointKeys = []string{"provider", "fabric", "domain", "version", "type", "protocol"}

func parseEndpoints(out []byte) ([]Endpoint, error) {
	var all []Endpoint
	var open map[string]string
	end := func() error {
		if open == nil {
			return nil
		}
		for _, key := range endpointKeys {
			if open[key] == "" {
				return fmt.Errorf("read fi_info: entry %d has no %s: the output is truncated", len(all)+1, key)
			}
		}
		all = append(all, Endpoint{open["provider"], open["fabric"], open["domain"], open["version"], open["type"], open["protocol"]})
		return nil
	}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		key, value, ok := strings.Cut(line, ": ")
		switch {
		case strings.HasPrefix(line, "fi_getinfo: "):
			return nil, fmt.Errorf("fi_info found no endpoint: %.80s", line)
		case !ok || !slices.Contains(endpointKeys, key):
			return nil, fmt.Errorf("read fi_info: %.80q: expected one of %v", line, endpointKeys)
		case key == "provider":
			if err := end(); err != nil {
				return nil, err
			}
			open = map[string]string{}
		case open == nil:
			return nil, fmt.Errorf("read fi_info: %.80q: expected provider first", line)
		case open[key] != "":
			return nil, fmt.Errorf("read fi_info: entry %d has two values of %s", len(all)+1, key)
		}
		open[key] = strings.TrimSpace(value)
	}
	if err := end(); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("read fi_info: no entry")
	}
	return all, nil
}
