package evidence

import (
	"encoding/json"
	"fmt"
)

// Hardware says whether the hardware of a run is simulated. In JSON it is true, false, or null
// if the cluster was not identified.
type Hardware string

// The values are the words of JSON.
const (
	// HardwareUnknown: the cluster was not identified, or has no nodes.
	HardwareUnknown   Hardware = ""
	HardwareReal      Hardware = "false"
	HardwareSimulated Hardware = "true"
)

// String is the value as a property of a report.
func (h Hardware) String() string {
	if h == HardwareUnknown {
		return "not identified"
	}
	return string(h)
}

// MarshalJSON implements json.Marshaler.
func (h Hardware) MarshalJSON() ([]byte, error) {
	if h == HardwareUnknown {
		return []byte("null"), nil
	}
	return []byte(h), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (h *Hardware) UnmarshalJSON(data []byte) error {
	var simulated *bool
	if err := json.Unmarshal(data, &simulated); err != nil {
		return fmt.Errorf("invalid value %s: want true, false or null", data)
	}
	switch {
	case simulated == nil:
		*h = HardwareUnknown
	case *simulated:
		*h = HardwareSimulated
	default:
		*h = HardwareReal
	}
	return nil
}
