package graph

//go:generate go run ./gen
