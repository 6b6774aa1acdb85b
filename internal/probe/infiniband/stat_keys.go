package infiniband

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	keyType     = "CA type"
	keyPorts    = "Number of ports"
	keyFirmware = "Firmware version"
	keyNodeGUID = "Node GUID"

	keyState    = "State"
	keyPhysical = "Physical state"
	keyRate     = "Rate"
	keyBaseLID  = "Base lid"
	keySMLID    = "SM lid"
	keyPortGUID = "Port GUID"
	keyLayer    = "Link layer"
)

// hcaKeys and statPortKeys are required; other keys are ignored. The ibstat of some containers prints no type.
var (
	hcaKeys      = []string{keyPorts, keyFirmware, keyNodeGUID}
	statPortKeys = []string{keyState, keyPhysical, keyRate, keyBaseLID, keySMLID, keyPortGUID, keyLayer}

	states    = []string{"Down", "Initializing", "Armed", "Active", "No state change"}
	physicals = []string{"No state change", "Sleep", "Polling", "Disabled", "PortConfigurationTraining", "LinkUp", "LinkErrorRecovery", "Phy Test", "PhyTest"}
)

// missing returns the first key that the block lacks.
func (b *block) missing(keys []string) string {
	for _, k := range keys {
		if !b.keys[k] {
			return k
		}
	}
	return ""
}

func (b *block) setHCA(key, value string) (err error) {
	switch key {
	case keyType:
		b.hca.Type = value
	case keyFirmware:
		b.hca.Firmware = value
	case keyNodeGUID:
		b.hca.NodeGUID, err = guid(value)
	}
	return err
}

func (b *block) setPort(key, value string) (err error) {
	switch key {
	case keyState:
		b.port.State, err = word(value, states)
	case keyPhysical:
		b.port.PhysicalState, err = word(value, physicals)
	case keyRate:
		b.port.RateGbps, err = rate(value)
	case keyBaseLID:
		b.port.BaseLID, err = lid(value)
	case keySMLID:
		b.port.SMLID, err = lid(value)
	case keyPortGUID:
		b.port.PortGUID, err = guid(value)
	case keyLayer:
		b.port.LinkLayer = value
	}
	return err
}

func word(value string, known []string) (string, error) {
	if !slices.Contains(known, value) {
		return "", fmt.Errorf("unknown state %.40q: want one of %s", value, strings.Join(known, ", "))
	}
	return value, nil
}

// rate parses Gb/s; ibstat prints 2.5 or 2 for a port with one SDR lane.
func rate(value string) (int, error) {
	f, err := strconv.ParseFloat(strings.TrimSuffix(value, " (FDR10)"), 64)
	if err != nil || f < 0 || f > 1e6 {
		return 0, fmt.Errorf("invalid rate %.40q: must be a number of Gb/s", value)
	}
	return int(f), nil
}

// lid parses a local identifier, decimal or hexadecimal.
func lid(value string) (int, error) {
	n, err := strconv.ParseUint(value, 0, 16)
	if err != nil {
		return 0, fmt.Errorf("invalid LID %.40q: must be a 16-bit number", value)
	}
	return int(n), nil
}

func guid(value string) (string, error) {
	digits, ok := strings.CutPrefix(strings.ToLower(value), "0x")
	n, err := strconv.ParseUint(digits, 16, 64)
	if !ok || err != nil {
		return "", fmt.Errorf("invalid GUID %.40q: must be 0x and up to 16 hexadecimal digits", value)
	}
	return fmt.Sprintf("0x%016x", n), nil
}
