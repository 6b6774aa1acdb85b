package fabric

import "strconv"

// Speed is one InfiniBand lane speed: the signalling rate that tools print, and the data rate that
// ibstat multiplies by the width.
type Speed struct {
	Name string
	Lane float64
	Data int
}

// Speeds lists the lane speeds in ascending order.
func Speeds() []Speed {
	return []Speed{
		{"EDR", 25.78125, 25},
		{"HDR", 53.125, 50},
		{"NDR", 106.25, 100},
		{"XDR", 212.5, 200},
	}
}

// DataRate returns the data rate in Gb/s of a lane with signalling rate lane in Gb/s.
func DataRate(lane float64) int {
	for _, s := range Speeds() {
		if s.Lane == lane {
			return s.Data
		}
	}
	return int(lane)
}

// SpeedName returns the generation of a lane rate; empty: unknown.
func SpeedName(lane float64) string {
	for _, s := range Speeds() {
		if s.Lane == lane {
			return s.Name
		}
	}
	return ""
}

func itoa(n int) string { return strconv.Itoa(n) }
