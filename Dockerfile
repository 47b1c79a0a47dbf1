# Canopy in a container: the one binary, no shell, not root.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /canopy ./cmd/canopy

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /canopy /usr/local/bin/canopy
EXPOSE 8080
ENTRYPOINT ["/usr/local/bin/canopy"]
CMD ["serve"]
