"""Masnadi-Shirazi and Vasconcelos on cost-sensitive boosting: synthetic problems, UCI tables and faces."""
