package config

// Share is the sum of the rows with one reservation-id.
type Share struct {
	ReservationID string `json:"reservation-id"`
	// Reservations are the rows, in order: the number of concurrent leases.
	Reservations []string `json:"reservations"`
	// Nodes is the sum of the stated node-counts.
	Nodes int `json:"nodes"`
	// Unstated are the rows without a node-count, which Nodes does not include.
	Unstated []string `json:"unstated,omitempty"`
	// Capacity is the number of nodes of the reservation; 0: not stated.
	Capacity int `json:"capacity,omitempty"`
}

// Shares returns the reservation-ids that several rows share or that have a capacity, in order of
// appearance.
func (r *Registry) Shares() []Share {
	var out []Share
	for _, s := range r.byID() {
		if len(s.Reservations) > 1 || s.Capacity > 0 {
			out = append(out, s)
		}
	}
	return out
}

// byID returns every reservation-id with its rows.
func (r *Registry) byID() []Share {
	var out []Share
	at := map[string]int{}
	for _, row := range r.Reservations {
		if row.ReservationID == "" {
			continue
		}
		i, found := at[row.ReservationID]
		if !found {
			i = len(out)
			at[row.ReservationID] = i
			out = append(out, Share{ReservationID: row.ReservationID})
		}
		s := &out[i]
		s.Reservations = append(s.Reservations, row.Name)
		s.Nodes += max(row.NodeCount, 0)
		if row.NodeCount <= 0 {
			s.Unstated = append(s.Unstated, row.Name)
		}
	}
	for _, c := range r.Capacities {
		if i, found := at[c.ReservationID]; found {
			out[i].Capacity = c.NodeCount
		}
	}
	return out
}
