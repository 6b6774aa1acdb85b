package metric

import "github.com/firstlight/firstlight/internal/autoscale/seen"

// mostReadings bounds what is kept of one place.
const mostReadings = 2000

// add appends a reading, and forgets the oldest of too many.
func add(list []seen.Reading, r seen.Reading) []seen.Reading {
	if len(list) >= mostReadings {
		list = append(list[:0:0], list[len(list)-mostReadings/2:]...)
	}
	return append(list, r)
}
