package config

// Share is what rows take of one reservation-id together.
type Share struct {
	ReservationID string `json:"reservation-id"`
	// Reservations are the rows, in their order: so many leases there can be at once.
	Reservations []string `json:"reservations"`
	// Nodes is what they take when all of them are held, as far as they state it.
	Nodes int `json:"nodes"`
	// Unstated are the rows that state no node-count: Nodes is without theirs.
	Unstated []string `json:"unstated,omitempty"`
	// Capacity is what the reservation has, in nodes; 0: not stated, and not assumed.
	Capacity int `json:"capacity,omitempty"`
}

// Shares are the reservation-ids that several rows share, or of which the
// capacity is stated, in the order in which they come first.
func (r *Registry) Shares() []Share {
	var out []Share
	for _, s := range r.byID() {
		if len(s.Reservations) > 1 || s.Capacity > 0 {
			out = append(out, s)
		}
	}
	return out
}

// byID is every reservation-id with its rows.
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
