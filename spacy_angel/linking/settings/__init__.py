"""What the component can be told, and the files that its settings name."""
