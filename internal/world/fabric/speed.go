package fabric

import "strconv"

// Speed is one InfiniBand lane speed: what the tools print as signalling rate,
// and the data rate that ibstat multiplies by the width.
type Speed struct {
	Name string
	Lane float64
	Data int
}

// Speeds lists the lane speeds from slow to fast.
func Speeds() []Speed {
	return []Speed{
		{"EDR", 25.78125, 25},
		{"HDR", 53.125, 50},
		{"NDR", 106.25, 100},
		{"XDR", 212.5, 200},
	}
}

// SpeedByName finds a speed.
func SpeedByName(name string) (Speed, bool) {
	for _, s := range Speeds() {
		if s.Name == name {
			return s, true
		}
	}
	return Speed{}, false
}

// DataRate is the data rate in Gb/s of a lane that signals at lane Gb/s.
func DataRate(lane float64) int {
	for _, s := range Speeds() {
		if s.Lane == lane {
			return s.Data
		}
	}
	return int(lane)
}

// SpeedName is the generation of a lane rate; empty when unknown.
func SpeedName(lane float64) string {
	for _, s := range Speeds() {
		if s.Lane == lane {
			return s.Name
		}
	}
	return ""
}

func itoa(n int) string { return strconv.Itoa(n) }
