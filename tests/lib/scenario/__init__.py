"""What users do: accounts with their repositories, interests and runs, which several tests begin with."""
